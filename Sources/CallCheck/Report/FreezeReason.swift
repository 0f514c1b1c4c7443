/// Why no new frame was to be seen.
public enum FreezeReason: String, Sendable, Hashable, Codable, CaseIterable {
  /// Packets never came.
  case lost
  /// Packets came only after they were requested again.
  case recoveredLate
  /// Frames came that depend on a missing one.
  case waitingForKeyframe
  /// The sender sent nothing.
  case senderPaused
  /// The sender had said that it does not send.
  case muted
  /// The connection was broken, or the sender started again.
  case reconnect
  /// Frames were sent in time and came late.
  case late
  /// Frames came that could not be decoded.
  case undecodable
  /// Anyone who took the frames did not keep up, on our side.
  case receiverStalled
  /// Nothing came until the end of the check.
  case untilEnd

  /// For a sentence that ends in "because …".
  public var clause: String {
    switch self {
    case .lost: "packets were lost"
    case .recoveredLate: "lost packets came only after they were requested again"
    case .waitingForKeyframe: "a keyframe was waited for after a loss"
    case .senderPaused: "the sender sent nothing"
    case .muted: "the sender had muted its track"
    case .reconnect: "the connection was broken"
    case .late: "packets were held up on their way"
    case .undecodable: "frames came that could not be decoded"
    case .receiverStalled: "this machine did not keep up"
    case .untilEnd: "nothing came any more until the end"
    }
  }
}

/// Why audio was missing.
public enum AudioGapReason: String, Sendable, Hashable, Codable, CaseIterable {
  /// Packets never came.
  case lost
  /// Packets came so late that anyone who listens has heard a hole.
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
