/// What is judged.
public enum CheckSubject: String, Sendable, Hashable, Codable {
  /// A call, while it lasts.
  case call
  /// A finished recording: there are no steps of a connection, and arrivals are the file's own times.
  case recording
}
