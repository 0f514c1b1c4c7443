/// `a=simulcast`: the streams that are sent or received simultaneously (RFC 8853, 5.1).
package struct SimulcastDescription: Sendable, Hashable {
  /// The sent streams, each as the identifiers (`a=rid`) of its alternatives. The prefix `~` (initially paused) is
  /// removed.
  package var sent: [[String]]
  package var received: [[String]]

  package init(sent: [[String]] = [], received: [[String]] = []) {
    self.sent = sent
    self.received = received
  }

  /// The maximum number of streams and alternatives: that of streams in a section.
  private static let maximumNames = SessionDescription.maximumStreams

  /// Parses for example `send l;m;~h recv 1,2`; nil if a direction is unknown or repeated, or if there are more than 64
  /// identifiers.
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

/// `a=rid`: the identifier of one simulcast stream and its restrictions (RFC 8851, 4).
package struct RestrictionIdentifier: Sendable, Hashable {
  package enum Direction: String, Sendable, Hashable {
    case send
    case receive = "recv"
  }

  package let id: String
  package let direction: Direction
  /// For example `pt=96`, `max-width=1280`, in order.
  package let restrictions: [String]
  /// The payload types to which the stream is restricted, or nil.
  package let payloadTypes: Set<UInt8>?

  /// The maximum number of restrictions that are parsed; RFC 8851, 5 defines nine.
  package static let maximumRestrictions = 16

  package init(id: String, direction: Direction, restrictions: [String] = []) {
    self.id = id
    self.direction = direction
    self.restrictions = restrictions
    payloadTypes = restrictions.first { $0.utf8.starts(with: "pt=".utf8) }.map { list in
      Set(String(list.dropFirst(3)).fields(separatedBy: ",").lazy.compactMap { UInt8($0) })
    }
  }

  /// Parses for example `h send pt=96;max-width=1280`; nil if the identifier does not consist of letters, digits, `-`
  /// and `_`, or if there are more than ``maximumRestrictions``.
  package init?(parsing text: String) {
    let fields = text.fields(maximum: 3)
    guard fields.count >= 2, let direction = Direction(rawValue: fields[1]), Self.isName(fields[0]) else { return nil }
    let restrictions = fields.count > 2 ? fields[2].fields(separatedBy: ";").map { $0.trimmed } : []
    guard restrictions.count <= Self.maximumRestrictions else { return nil }
    self.init(id: fields[0], direction: direction, restrictions: restrictions)
  }

  package var text: String {
    let names = "\(id) \(direction.rawValue)"
    return restrictions.isEmpty ? names : "\(names) \(restrictions.joined(separator: ";"))"
  }

  static func isName(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 255
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }
}
