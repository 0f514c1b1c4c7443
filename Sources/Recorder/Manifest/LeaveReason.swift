/// How a participant's recording came to its end.
public enum LeaveReason: String, Sendable, Hashable, Codable, CaseIterable {
  /// The participant left the room.
  case left
  /// Nothing came from the participant any more.
  case connectionLost
  /// The call with this participant could not go on, for example because of a certificate that did not match.
  case failed
  /// We stopped recording.
  case stopped
}
