/// Whose media this is: the id that the signalling server gave to a participant, taken as it came.
///
/// It comes from outside and can hold any text. It is an identity, never a file name.
public struct ParticipantID: Sendable, Hashable, CustomStringConvertible {
  public let text: String

  public init(_ text: String) {
    self.text = text
  }

  public var description: String { text }
}
