extension RecordingManifest {
  /// A place where a track did not simply continue.
  public struct Gap: Sendable, Hashable, Codable {
    /// Why: `lost` (packets never came), `recoveredLate` (they came after they were requested again, and nothing is
    /// missing), `waitingForKeyframe` (frames came that could not be decoded), `senderPaused` (the sender sent nothing, its
    /// packets' numbers continue), `dtx` (the sender skipped silence), `muted` (the sender had said that it does not send),
    /// `reconnect` (the connection was broken, or the sender started again), `diskStalled` (the disk failed or was slow),
    /// `overloaded` (this machine had no time).
    public var reason: String
    /// Where it begins: the end of the last frame before it. Of `recoveredLate`: the place of the frame that was late.
    public var start: Double
    /// How long it is, to the begin of the first frame after it; what was repaired is included. Of `recoveredLate`: how long
    /// the frame was waited for, which is not seen in the file. Silences of `dtx` with nothing but a packet of comfort noise
    /// between them are one gap.
    public var duration: Double
    /// Packets that were given up, whether they came after that or never.
    public var packets: Int
    /// Frames that came but were not written.
    public var frames: Int
    /// Audio: seconds of it that were filled by error correction or concealment; absent when none were.
    public var repaired: Double?

    public init(
      reason: String, start: Double, duration: Double, packets: Int, frames: Int, repaired: Double? = nil
    ) {
      self.reason = reason
      self.start = start
      self.duration = duration
      self.packets = packets
      self.frames = frames
      self.repaired = repaired
    }
  }

  /// All gaps of a track that have one reason.
  public struct GapTotal: Sendable, Hashable, Codable {
    /// How many there were.
    public var count: UInt64
    /// Seconds in all.
    public var duration: Double
    /// Packets that were given up in them; of all reasons together, the track's `lost` and `late`.
    public var packets: UInt64
    /// Frames that came in them but were not written.
    public var frames: UInt64
    /// Audio: seconds of them that were filled; absent when none were.
    public var repaired: Double?

    public init(count: UInt64, duration: Double, packets: UInt64, frames: UInt64, repaired: Double? = nil) {
      self.count = count
      self.duration = duration
      self.packets = packets
      self.frames = frames
      self.repaired = repaired
    }
  }
}
