/// A peer's frames.
public struct VideoReport: Sendable, Hashable, Codable {
  /// When the first frame was there, and how long it continued from there to the peer's end.
  public var start: Double
  public var duration: Double
  /// Frames that were decoded.
  public var frames: Int
  /// Frames a second, over the time in which they were made: frames of the past that came all at once make it no higher.
  public var fps: Double
  /// The fewest frames in any second (a window of 1 s, moved on by the timeline's step); nil when it lasted less than a second.
  public var fpsMinimum: Double?
  /// Bits of VP8 a second, over the same time.
  public var bitrate: Double
  public var keyframes: Int
  /// Frames that could not be decoded, those before the first keyframe not counted.
  public var decodeErrors: Int
  /// Frames that came before the first keyframe.
  public var framesBeforeKeyframe: Int
  /// Each video size and since when; ends after 200 changes.
  public var sizes: [Size]
  /// How often the size changed.
  public var sizeChanges: Int
  /// The mean luma of all frames: 16 is black, 235 white.
  public var brightness: Double
  /// In which no new frame came.
  public var freezes: IntervalSummary
  /// In which the frames were black.
  public var black: IntervalSummary
  /// In which frames came that all showed the same.
  public var frozen: IntervalSummary

  /// A video size and since when.
  public struct Size: Sendable, Hashable, Codable {
    public var time: Double
    public var width: Int
    public var height: Int
  }
}
