internal import Glibc

/// The id that the signalling server assigned to a participant, unchanged.
///
/// It comes from the network and can contain any text. It is an identity, never a file name. Two ids are equal if their
/// bytes are: `å` as one code point and as two are two participants.
public struct ParticipantID: Sendable, Hashable, CustomStringConvertible {
  public let text: String

  public init(_ text: String) {
    self.text = text
  }

  public var description: String { text }

  public static func == (one: Self, other: Self) -> Bool {
    // Ids are compared several times for each frame.
    var (one, other) = (one.text, other.text)
    return one.withUTF8 { one in
      other.withUTF8 { other in
        guard one.count == other.count, let first = one.baseAddress, let second = other.baseAddress else {
          return one.count == other.count
        }
        return memcmp(first, second, one.count) == 0
      }
    }
  }

  public func hash(into hasher: inout Hasher) {
    // All bytes at once, because an id is hashed several times for each frame.
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    hasher.combine(0xFF as UInt8)
  }
}

extension ParticipantID: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) {
    self.init(text)
  }
}
