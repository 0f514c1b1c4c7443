/// Why a track did not simply continue between two of its frames, and what that cost.
public struct MediaGap: Sendable, Hashable {
  public enum Reason: String, Sendable, Hashable, Codable, CaseIterable {
    /// Packets never came, and were given up.
    case lost
    /// Packets came only after they had been requested again, so that frames had to wait; nothing is missing.
    case recoveredLate
    /// Frames came that depend on a missing one; they were skipped until a keyframe.
    case waitingForKeyframe
    /// The sender sent nothing: its packets' numbers continue without a hole.
    case senderPaused
    /// The sender skipped silence (discontinuous transmission, RFC 6716, 2.1.9).
    case dtx
    /// The sender had said in its description that it does not send (RFC 8829, 5.2.2).
    case muted
    /// The connection was broken, or the sender started again.
    case reconnect
    /// The disk failed or was slow, and the memory set aside for that was full.
    case diskStalled
    /// This machine had no time to take the frames, and the memory set aside for that was full.
    case overloaded
  }

  public var reason: Reason
  /// Packets that were given up.
  public var packetsLost: Int
  /// Frames that came, whole or in part, but could not be used.
  public var framesDropped: Int
  /// How long the frame after the gap had to wait for what was missing.
  public var delay: Duration

  public init(_ reason: Reason, packetsLost: Int = 0, framesDropped: Int = 0, delay: Duration = .zero) {
    self.reason = reason
    self.packetsLost = packetsLost
    self.framesDropped = framesDropped
    self.delay = delay
  }
}
