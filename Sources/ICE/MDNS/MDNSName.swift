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
    guard (1...Self.maximumLabelLength).contains(label.count), label.allSatisfy(Self.isAllowed) else { return nil }
    let lowercase = text.lowercased()
    guard lowercase.utf8.dropFirst(label.count).elementsEqual(Self.suffix.utf8) else { return nil }
    description = lowercase
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
