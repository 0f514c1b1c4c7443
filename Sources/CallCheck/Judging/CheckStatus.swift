/// A check at a glance, while it lasts.
public struct CheckStatus: Sendable, Hashable {
  /// Seconds since the check's start.
  public var elapsed: Double
  /// Seconds since as many peers as expected send what is expected; nil while they do not.
  public var mediaElapsed: Double?
  public var peers: [Peer]
  /// What is still waited for, each as a clause: "1 more peer", "sound of …".
  public var awaited: [String]

  /// One peer at a glance.
  public struct Peer: Sendable, Hashable {
    public var id: String
    public var reached: CallProgress
    /// The same as a sentence.
    public var progress: String
    public var isGone: Bool
    /// Of the last second.
    public var fps: Double
    /// Bits of payload a second, of both tracks.
    public var bitrate: Double
    /// In dB below full scale; nil when no audio came.
    public var level: Double?
  }
}
