/// `a=rid`: the name of one stream of a simulcast, and its limits (RFC 8851, 4).
package struct RestrictionIdentifier: Sendable, Hashable {
  package enum Direction: String, Sendable, Hashable {
    case send
    case receive = "recv"
  }

  package let id: String
  package let direction: Direction
  /// For example `pt=96`, `max-width=1280`, in their order.
  package let restrictions: [String]
  /// The payload types that the stream is limited to; nil without such a limit.
  package let payloadTypes: Set<UInt8>?

  /// The most restrictions of a stream that are read; RFC 8851, 5 defines nine.
  package static let maximumRestrictions = 16

  package init(id: String, direction: Direction, restrictions: [String] = []) {
    self.id = id
    self.direction = direction
    self.restrictions = restrictions
    payloadTypes = restrictions.first { $0.utf8.starts(with: "pt=".utf8) }.map { list in
      Set(String(list.dropFirst(3)).fields(separatedBy: ",").lazy.compactMap { UInt8($0) })
    }
  }

  /// Reads for example `h send pt=96;max-width=1280`; nil if the name is not made of letters, digits, `-` and `_`, or if there
  /// are more than ``maximumRestrictions``.
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
