/// Hostile messages to one participant.
struct HostileMessages: Sendable {
  let name: String
  /// Called with the victim's id.
  let texts: @Sendable (String) throws -> [String]

  static let all: [HostileMessages] = [
    longRestrictions, manyPayloadTypes, strangers, escapes, doubling, answers, manyValues,
  ]

  private static let longRestrictions = HostileMessages(name: "rids with long restrictions, echoed in an answer") {
    let rids = (0..<26).map { "a=rid:r\($0) send pt=96;x=\(String(repeating: "y", count: 7_000))\r\n" }.joined()
    let sdp = HostileDescription.video + rids + "a=simulcast:send r0;r1;r2\r\n"
    return Array(repeating: try HostileDescription.offer(sdp, to: $0), count: 3)
  }

  private static let manyPayloadTypes = HostileMessages(name: "payload types of rids, in each of many alternatives") {
    let types = (0..<2_000).map { "\($0 % 128)" }.joined(separator: ",")
    let rids = (0..<26).map { "a=rid:r\($0) send pt=\(types)\r\n" }.joined()
    let names = (0..<2_000).map { "r\($0 % 26)" }.joined(separator: ",")
    let sdp = HostileDescription.video + rids + "a=simulcast:send \(names)\r\n"
    return Array(repeating: try HostileDescription.offer(sdp, to: $0), count: 10)
  }

  /// All of 127/8 is this machine, and nothing listens on these addresses.
  private static let strangers = HostileMessages(name: "candidates with foreign addresses") {
    let candidates = (2...50).map { "a=candidate:\($0) 1 udp 2130706431 127.0.0.\($0) \(20_000 + $0) typ host\r\n" }
    return Array(
      repeating: try HostileDescription.offer(HostileDescription.video + candidates.joined(), to: $0), count: 5)
  }

  /// In fields that error messages quote.
  private static let escapes = HostileMessages(name: "candidates and descriptions with escapes") { id in
    let text = "\u{1B}]0;owned\u{07}\u{9B}2J\u{202E}\nERROR"
    let candidates = try [
      "candidate:1 1 udp 1 \(text) forged 5000 typ host", "candidate:1 1 \(text) 1 127.0.0.2 5000 typ host",
      "candidate:1 1 udp 1 127.0.0.2 5000 typ \(text)", "candidate:1 1 udp 1 127.0.0.2 \(text) typ host", text,
    ].map { try HostileDescription.candidate($0, mid: text, to: id) }
    let descriptions = try [
      "a=mid:0", "a=setup:actpass", "a=ice-ufrag:abcd", "m=video", "UDP/TLS", "a=fingerprint:sha-256", "v=0",
    ].map { try HostileDescription.offer(HostileDescription.video.replacing($0, with: $0 + text), to: id) }
    return descriptions + Array(repeating: candidates, count: 100).joined()
  }

  /// A relayed candidate names its media section twice.
  private static let doubling = HostileMessages(name: "a candidate that doubles when relayed") {
    [try HostileDescription.candidate("candidate:1", mid: String(repeating: "m", count: 135_000), to: $0)]
  }

  private static let answers = HostileMessages(name: "unsolicited answers") {
    Array(repeating: try HostileDescription.answer(HostileDescription.video, to: $0), count: 1_000)
  }

  private static let manyValues = HostileMessages(name: "JSON with many values") { _ in
    let objects = Array(repeating: "{}", count: 80_000).joined(separator: ",")
    return Array(repeating: #"{"eventName":"x","data":[\#(objects)]}"#, count: 10)
  }
}
