/// What the peers of a call are expected to send; the program's own rules follow from it.
public struct CheckExpectation: Sendable, Hashable, Codable {
  /// How many peers, at least.
  public var peers: Int
  /// Whether each sends audio.
  public var audio: Bool
  /// Whether each sends frames.
  public var video: Bool
  /// Whether what comes is the test pattern.
  public var pattern: Pattern

  public init(peers: Int = 1, audio: Bool = true, video: Bool = true, pattern: Pattern = .none) {
    self.peers = peers
    self.audio = audio
    self.video = video
    self.pattern = pattern
  }

  /// What is known of the content.
  public enum Pattern: String, Sendable, Hashable, Codable, CaseIterable {
    /// Nothing; where the pattern comes it is read nevertheless.
    case none
    /// The peers play the pattern.
    case played
    /// The peers send back what we send, and that is the pattern.
    case returned
  }
}

/// What is judged.
public enum CheckSubject: String, Sendable, Hashable, Codable {
  /// A call, while it lasts.
  case call
  /// A finished recording: there are no steps of a connection, and arrivals are the file's own times.
  case recording
}
