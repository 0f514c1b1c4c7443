/// Why sound was missing.
public enum SoundGapReason: String, Sendable, Hashable, Codable, CaseIterable {
  /// Packets never came.
  case lost
  /// Packets came so late that whoever listens has heard a hole.
  case late
  /// Packets came that could not be decoded.
  case undecodable

  /// For a sentence that ends in "because …".
  public var clause: String {
    switch self {
    case .lost: "packets were lost"
    case .late: "packets were held up on their way"
    case .undecodable: "packets came that could not be decoded"
    }
  }
}
