import SQLStore
import Webhooks

/// What the service reads of receivers, of who names them, and of their secrets.
enum WebhookTarget {
  /// A byte (modulo 4: 0 a file of secrets, 1 a URL and an address, 2 a pattern of events and the id of a delivery, 3 an answer: two bytes of
  /// its status, then the body), then the bytes.
  static func run(_ input: [UInt8]) throws(InvariantViolation) {
    guard let first = input.first else { return }
    let bytes = Array(input.dropFirst())
    let text = String(decoding: bytes, as: UTF8.self)
    switch first % 4 {
    case 0: try secrets(text)
    case 1: try address(text)
    case 2:
      if let pattern = EventPattern(text) {
        try require(
          JobEventType.allCases.contains { pattern.matches($0.rawValue) }, "A pattern fits no event.")
        try require(EventPattern(pattern.description) == pattern, "A pattern does not round-trip.")
      }
      if let id = DeliveryID(text) { try require(id.description == text, "The id of a delivery does not round-trip.") }
    default: try answer(bytes)
    }
  }

  private static func secrets(_ text: String) throws(InvariantViolation) {
    let list: WebhookSecretList
    do throws(WebhookSecretList.ParseError) {
      list = try WebhookSecretList(parsing: text)
    } catch {
      try require(error.line >= 1 && !error.sentence.isEmpty, "An error says nothing.")
      return
    }
    try require((1...WebhookSecretList.maximumSecrets).contains(list.secrets.count), "There are too many secrets.")
    let fields = WebhookMessage(id: "e1", body: Array(text.utf8)).fields(at: 1, secrets: list)
    let signatures = fields?.last?.value.split(separator: " ") ?? []
    try require(signatures.count == list.secrets.count, "A secret does not sign.")
    try require(signatures.allSatisfy { $0.hasPrefix("v1,") && $0.utf8.count == 47 }, "A signature is none.")
  }

  private static func address(_ text: String) throws(InvariantViolation) {
    if let address = IPAddress(text) {
      try require(IPAddress(address.description) == address, "An address does not round-trip.")
    }
    guard let url = try? WebhookURL(text, allowsPrivate: true) else {
      try require((try? WebhookURL(text, allowsPrivate: false)) == nil, "A broken URL is public.")
      return
    }
    try require((1...65_535).contains(url.port) && !url.host.isEmpty, "A URL has no host or port.")
    try require((try? WebhookURL(url.origin, allowsPrivate: true))?.origin == url.origin, "An origin is none.")
    guard let open = try? WebhookURL(text, allowsPrivate: false) else { return }
    try require(open == url && open.isSecure, "A URL is read in two ways.")
    if let address = IPAddress(open.host) { try require(address.isPublic, "A private address is public.") }
  }

  private static func answer(_ bytes: [UInt8]) throws(InvariantViolation) {
    guard bytes.count >= 2 else { return }
    let status = Int(bytes[0]) << 8 | Int(bytes[1])
    switch WebhookOutcome(status: status, body: Array(bytes.dropFirst(2))) {
    case .delivered: try require((200..<300).contains(status), "A failure is delivered.")
    case .gone: try require(status == 410, "Another status is gone.")
    case .failed(let failure):
      try require(!(200..<300).contains(status) && failure.status == status, "A success failed.")
      // Each byte that is escaped becomes 10 at most.
      try require(failure.sentence.utf8.count <= 2_100, "A sentence is long.")
      try require(failure.sentence.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "A sentence has control characters.")
    }
  }
}
