/// How far a call with a peer came, the later the further.
public enum CallProgress: String, Sendable, Hashable, Codable, CaseIterable, Comparable {
  /// Nothing is known of it but its media, as of a recording.
  case nothing
  case seen
  /// An offer was sent, or one came.
  case offered
  /// The answer was sent, or came.
  case answered
  /// One of our ICE checks was answered.
  case checked
  case iceConnected
  case dtlsConnected
  /// Packets of media came.
  case packets
  /// A picture or sound was decoded.
  case media

  public static func < (one: Self, other: Self) -> Bool { one.rank < other.rank }

  private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
