import NIOCore

/// A name under which a browser announces the address of a host candidate by multicast DNS: one label and `.local`
/// (draft-ietf-mmusic-mdns-ice-candidates, 3.1.1), for example `f00bdccb-47fd-4380-97ba-283b81cc218f.local`.
///
/// The label has 1 to 63 ASCII letters, digits or hyphens. Browsers use a random UUID; Safari sometimes appends digits to it.
/// Other names are rejected: the name comes from a remote participant, who must not be able to make this process query
/// arbitrary names, such as those of services, of other domains, or texts with unusual bytes.
package struct MDNSName: Sendable, Hashable, CustomStringConvertible {
  /// The name in lowercase letters: names are compared without regard to case (RFC 6762, 16).
  package let description: String

  /// Parses a name; nil when it does not look like that of a browser.
  package init?(_ text: some StringProtocol) {
    let label = text.utf8.dropLast(Self.suffix.utf8.count)
    guard (1...Self.maximumLabelLength).contains(label.count), label.allSatisfy(Self.isAllowed),
      text.utf8.allSatisfy({ $0 < 0x80 })
    else { return nil }
    let lowercase = text.lowercased()
    guard lowercase.utf8.dropFirst(label.count).elementsEqual(Self.suffix.utf8) else { return nil }
    description = lowercase
  }

  /// Creates a name from a random UUID of version 4 (RFC 9562, 5.4); nil never happens.
  init?(randomUsing generator: inout any RandomNumberGenerator & Sendable) {
    let high = generator.next() & ~0xF000 | 0x4000
    let low = generator.next() & ~(0b11 << 62) | 0b10 << 62
    let digits = [high, low].map { half in
      let text = String(half, radix: 16)
      return String(repeating: "0", count: 16 - text.utf8.count) + text
    }.joined()
    var label = ""
    for (index, digit) in digits.enumerated() {
      if [8, 12, 16, 20].contains(index) { label.append("-") }
      label.append(digit)
    }
    self.init(label + Self.suffix)
  }

  /// Whether the label begins with a UUID, as those of browsers do.
  package var beginsWithUUID: Bool {
    let groups = [8, 4, 4, 4, 12]
    var rest = description.utf8.dropLast(Self.suffix.utf8.count)
    for (index, length) in groups.enumerated() {
      let group = rest.prefix(length)
      guard group.count == length, group.allSatisfy(Self.isHexadecimal) else { return false }
      rest = rest.dropFirst(length)
      if index < groups.count - 1, rest.popFirst() != UInt8(ascii: "-") { return false }
    }
    return true
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: false
    }
  }

  /// Writes the name in wire format, without compression (RFC 1035, 3.1).
  func write(into buffer: inout ByteBuffer) {
    for label in description.utf8.split(separator: UInt8(ascii: ".")) {
      buffer.writeInteger(UInt8(truncatingIfNeeded: label.count))
      buffer.writeBytes(label)
    }
    buffer.writeInteger(0 as UInt8)
  }

  private static let suffix = ".local"
  private static let maximumLabelLength = 63

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
      true
    default:
      false
    }
  }
}
