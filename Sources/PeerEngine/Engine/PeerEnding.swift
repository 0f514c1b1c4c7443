/// How a connection came to its end.
public struct PeerEnding: Sendable, Hashable, CustomStringConvertible {
  public enum Cause: String, Sendable, Hashable {
    /// We ended it.
    case closedByUs
    /// The participant ended it.
    case closedByParticipant
    /// Nothing was heard from the participant any more.
    case connectionLost
    /// It could not be made, or may not go on: a wrong certificate, for example.
    case failed
  }

  public var cause: Cause
  /// One sentence.
  public var sentence: String

  public init(_ cause: Cause, _ sentence: String) {
    self.cause = cause
    self.sentence = sentence
  }

  public var description: String { sentence }
}
