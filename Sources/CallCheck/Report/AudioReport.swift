/// A peer's audio.
public struct AudioReport: Sendable, Hashable, Codable {
  /// When the first audio was there, and how long it continued from there to the peer's end.
  public var start: Double
  public var duration: Double
  /// Packets that were decoded.
  public var packets: Int
  /// Bits of Opus a second.
  public var bitrate: Double
  /// 1 or 2: the most that a packet held.
  public var channels: Int
  /// Packets that could not be decoded.
  public var decodeErrors: Int
  /// The root mean square of all that was heard, in dB below full scale (0 is a full square wave); -96 at least.
  public var level: Double
  /// The loudest sample, in the same unit.
  public var peak: Double
  /// Seconds that the decoder made up in place of lost packets.
  public var concealed: Double
  /// In which nothing was to be heard, because it was silent or nothing came: below -60 dB.
  public var silence: IntervalSummary
  /// In which the audio is at full scale: each block of 20 ms of which one sample in a hundred is.
  public var clipped: IntervalSummary
  /// In which audio is missing that had been sent.
  public var gaps: IntervalSummary
}
