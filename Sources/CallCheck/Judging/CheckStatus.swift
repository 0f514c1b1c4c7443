/// The state of a running check.
public struct CheckStatus: Sendable, Hashable {
  /// Seconds since the check's start.
  public var elapsed: Double
  /// Seconds since as many peers as expected send what is expected; nil before that.
  public var mediaElapsed: Double?
  public var peers: [Peer]
  /// What the check still waits for, each as a clause: "1 more peer", "audio of …".
  public var pending: [String]
  /// Whether it waits only for media that we refused, so that a rule about that media fails unless the peer offers it in
  /// another way.
  package var waitsOnlyForRefusedMedia = false

  /// The state of one peer.
  public struct Peer: Sendable, Hashable {
    public var id: String
    public var reached: CallProgress
    /// The progress as a sentence.
    public var progress: String
    public var isGone: Bool
    /// Whether it only receives, so that nothing is expected of it.
    public var isListener = false
    /// The frame rate of the first stream in the last second.
    public var fps: Double
    /// Payload bits per second of all streams.
    public var bitrate: Double
    /// The audio level of the first stream in dB relative to full scale; nil if no audio arrived.
    public var level: Double?
  }
}
