internal import Glibc

/// Whose media this is: the id that the signalling server gave to a participant, taken as it came.
///
/// It comes from outside and can hold any text. It is an identity, never a file name. Two ids are the same if they are so
/// byte by byte: `å` in one code point and in two are two participants.
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
    // All bytes at once: an id is looked up several times for each frame.
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
