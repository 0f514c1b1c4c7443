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

  // Ids are compared and hashed several times for each frame, so all bytes are at once.
  public static func == (one: Self, other: Self) -> Bool { one.text.hasSameBytes(as: other.text) }
  public func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
}

extension ParticipantID: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) {
    self.init(text)
  }
}

/// The order of their bytes of UTF-8.
extension ParticipantID: Comparable {
  public static func < (one: Self, other: Self) -> Bool { one.text.utf8.lexicographicallyPrecedes(other.text.utf8) }
}
