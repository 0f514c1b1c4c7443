/// `a=simulcast`: the streams that are sent or received side by side (RFC 8853, 5.1).
package struct SimulcastDescription: Sendable, Hashable {
  /// The streams sent, each as the names (`a=rid`) of its alternatives. A name's `~` (paused at first) is left away.
  package var sent: [[String]]
  package var received: [[String]]

  package init(sent: [[String]] = [], received: [[String]] = []) {
    self.sent = sent
    self.received = received
  }

  /// The most streams and alternatives that are named: as many as a section may have.
  private static let maximumNames = SessionDescription.maximumStreams

  /// Reads for example `send l;m;~h recv 1,2`; nil if a direction is unknown or comes twice, or if there are more than 64 names.
  package init?(parsing text: String) {
    self.init()
    let separators = text.utf8.count { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: ",") }
    guard separators < Self.maximumNames else { return nil }
    let fields = text.fields()
    guard fields.count == 2 || fields.count == 4 else { return nil }
    for position in stride(from: 0, to: fields.count, by: 2) {
      let streams = fields[position + 1].fields(separatedBy: ";").map { stream in
        stream.fields(separatedBy: ",").map { $0.hasPrefix("~") ? String($0.dropFirst()) : $0 }
      }
      switch fields[position] {
      case "send" where sent.isEmpty: sent = streams
      case "recv" where received.isEmpty: received = streams
      default: return nil
      }
    }
  }

  package var text: String {
    let parts = [("send", sent), ("recv", received)].filter { !$0.1.isEmpty }
    return parts.map { direction, streams in
      "\(direction) " + streams.map { $0.joined(separator: ",") }.joined(separator: ";")
    }.joined(separator: " ")
  }
}
