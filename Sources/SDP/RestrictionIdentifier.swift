/// `a=rid`: the name of one stream of a simulcast, and its limits (RFC 8851, 4).
package struct RestrictionIdentifier: Sendable, Hashable {
  package enum Direction: String, Sendable, Hashable {
    case send
    case receive = "recv"
  }

  package var id: String
  package var direction: Direction
  /// For example `pt=96`, `max-width=1280`, in their order.
  package var restrictions: [String]

  package init(id: String, direction: Direction, restrictions: [String] = []) {
    self.id = id
    self.direction = direction
    self.restrictions = restrictions
  }

  /// Reads for example `h send pt=96;max-width=1280`; nil if the name is not made of letters, digits, `-` and `_`.
  package init?(parsing text: String) {
    let fields = text.fields(maximum: 3)
    guard fields.count >= 2, let direction = Direction(rawValue: fields[1]), Self.isName(fields[0]) else { return nil }
    self.init(id: fields[0], direction: direction)
    if fields.count > 2 { restrictions = fields[2].fields(separatedBy: ";").map { $0.trimmed } }
  }

  /// The payload types that the stream is limited to; nil without such a limit.
  package var payloadTypes: [UInt8]? {
    guard let list = restrictions.first(where: { $0.utf8.starts(with: "pt=".utf8) }) else { return nil }
    return String(list.dropFirst(3)).fields(separatedBy: ",").compactMap { UInt8($0) }
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
