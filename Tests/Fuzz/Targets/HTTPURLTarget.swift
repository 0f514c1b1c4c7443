import HTTPTransport

/// Addresses of HTTP servers, and references to others in their responses.
///
/// An input is an address and, after a line end, a reference that is resolved against it. Without an address before it,
/// a reference is resolved against a fixed one.
enum HTTPURLTarget {
  static func run(_ input: [UInt8]) throws(InvariantViolation) {
    let lines = input.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
    let texts = lines.map { String(decoding: $0, as: UTF8.self) }
    var bases: [HTTPURL] = []
    if let url = try read({ () throws(HTTPURL.ParseError) in try HTTPURL(texts[0]) }) { bases.append(url) }
    if let url = try? HTTPURL("https://a:8443/b/c?q=2") { bases.append(url) }
    for base in bases {
      try require((try? base.resolving("")) == base, "An address does not resolve the empty reference to itself.")
      let reference = texts.last ?? ""
      let url = try read { () throws(HTTPURL.ParseError) in try base.resolving(reference) }
      if let url, url.description.utf8.count < 4_096 {
        try require((try? base.resolving(url.description)) == url, "A resolved address resolves to another one.")
      }
    }
  }

  /// Reads an address, or requires a bounded sentence about what is wrong.
  private static func read(_ read: () throws(HTTPURL.ParseError) -> HTTPURL) throws(InvariantViolation) -> HTTPURL? {
    let url: HTTPURL
    do throws(HTTPURL.ParseError) { url = try read() } catch {
      try sentence(error.description)
      return nil
    }
    try require(isValid(url), "The address \(url) is not valid.")
    try require(url.hasSameOrigin(as: url), "An address has not its own origin.")
    try require((try? HTTPURL(url.description)) == url, "The address \(url) does not round-trip.")
    for error in [HTTPError.invalidResponse(url, reason: "x"), .unreachable(url, reason: "x")] {
      try sentence(error.description)
    }
    return url
  }

  /// Whether an address can be sent in a request line and a header.
  static func isValid(_ url: HTTPURL) -> Bool {
    (1...65_535).contains(url.port) && !url.host.isEmpty && url.target.hasPrefix("/")
      && [url.host, url.target].allSatisfy { $0.utf8.allSatisfy { (0x21...0x7E).contains($0) } }
      && !url.target.contains("#")
  }
}
