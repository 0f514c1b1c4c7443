/// A peer's call in steps of equal length, for drawing. Entry `n` of each row is the time from `n * step` on; nil is a step in
/// which nothing was to be measured.
public struct CheckTimeline: Sendable, Hashable, Codable {
  /// The length of a step in seconds: 0.2, and more for calls of more than ten minutes.
  public var step: Double
  /// Bits of payload a second that came.
  public var videoBitrate: [Double?]
  public var audioBitrate: [Double?]
  /// The share of packets, of both tracks, that did not come at the first try; where the counts were sampled.
  public var loss: [Double?]
  /// Frames a second.
  public var fps: [Double?]
  /// The share of the step that was frozen, 0 to 1.
  public var freeze: [Double?]
  /// Audio level in dB below full scale.
  public var level: [Double?]
  /// Audio against frames in seconds; above 0 the audio is late.
  public var skew: [Double?]
  /// From the pattern's time to the arrival, in seconds; without our wall clock or without the pattern nil throughout.
  public var videoDelay: [Double?]
  public var audioDelay: [Double?]
  /// Bits of RTP payload a second that we sent, and what the line was said to take; where they were sampled.
  public var sentBitrate: [Double?]
  public var targetBitrate: [Double?]
  /// Keyframes that we requested, and keyframes that came.
  public var keyframeRequests: [Double?]
  public var keyframes: [Double?]
}
