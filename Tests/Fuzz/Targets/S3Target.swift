internal import Media
internal import ObjectStore
internal import S3

/// Answers of a store and of servers that give credentials.
enum S3Target {
  static func run(_ input: [UInt8]) throws(InvariantViolation) {
    guard let choice = input.first else { return }
    let bytes = Array(input.dropFirst())
    if let root = try? XMLReader.read(bytes) { try check(root, bytes: bytes.count) }
    switch choice % 8 {
    case 0:
      guard let error = S3ErrorBody(parsing: bytes) else { return }
      try require(isVisible(error.code), "An error code is no word.")
      try require(error.message.utf8.count <= 3_000, "A message is long.")
    case 1:
      guard let upload = StartedUpload(parsing: bytes) else { return }
      try require(isVisible(upload.uploadID), "An upload id is no word.")
    case 2:
      guard let page = PartsPage(parsing: bytes) else { return }
      for part in page.parts {
        try require((1...10_000).contains(part.number) && part.bytes >= 0, "A part has no place.")
        try require(isVisible(part.tag), "A tag is no word.")
      }
    case 3:
      guard let page = KeysPage(parsing: bytes) else { return }
      let count = page.keys.reduce(0) { $0 + $1.utf8.count }
      try require(count <= 3 * bytes.count, "Keys are longer than the answer.")
      try require(page.next.map(isVisible) ?? true, "A token is no word.")
    case 4: _ = Completion(parsing: bytes)
    case 5: try check(CredentialsAnswer.webIdentity(bytes))
    case 6: try check(CredentialsAnswer.container(bytes))
    default:
      try check(SharedCredentialsFile.credentials(of: "default", in: bytes))
      let text = String(decoding: bytes, as: UTF8.self)
      if let endpoint = S3Endpoint(text) {
        try require(S3Endpoint(endpoint.description) == endpoint, "An endpoint does not round-trip: \(endpoint)")
        try require(isVisible(endpoint.authority), "A host is no word.")
      }
      _ = try? S3Configuration(url: text)
    }
  }

  private static func isVisible(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }

  private static func check(_ credentials: S3Credentials?) throws(InvariantViolation) {
    guard let credentials else { return }
    for text in [credentials.accessKeyID, credentials.secretAccessKey, credentials.sessionToken ?? "-"] {
      try require(isVisible(text), "Credentials would not be safe in a header.")
    }
  }

  private static func check(_ root: XMLElement, bytes: Int) throws(InvariantViolation) {
    var open = [(root, 1)]
    var count = 0
    while let (element, depth) = open.popLast() {
      count += element.text.count + 1
      try require(depth <= XMLReader.Limits().depth, "An element is too deep.")
      try require(isVisible(element.name), "The name of an element is no word.")
      open += element.children.map { ($0, depth + 1) }
    }
    try require(count <= bytes, "A document became longer.")
  }
}
