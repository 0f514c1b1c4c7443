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

  package init(
    elapsed: Double, mediaElapsed: Double?, peers: [Peer], pending: [String], waitsOnlyForRefusedMedia: Bool = false
  ) {
    (self.elapsed, self.mediaElapsed, self.peers) = (elapsed, mediaElapsed, peers)
    (self.pending, self.waitsOnlyForRefusedMedia) = (pending, waitsOnlyForRefusedMedia)
  }

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

    package init(
      id: String, reached: CallProgress, progress: String, isGone: Bool, isListener: Bool = false, fps: Double,
      bitrate: Double, level: Double?
    ) {
      (self.id, self.reached, self.progress, self.isGone) = (id, reached, progress, isGone)
      (self.isListener, self.fps, self.bitrate, self.level) = (isListener, fps, bitrate, level)
    }
  }
}
