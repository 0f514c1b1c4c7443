/// The measurements of the test pattern in a peer's media.
public struct PatternReport: Sendable, Hashable, Codable {
  /// The pattern's stream id; the last one if there were several.
  public var streamID: Int
  /// The number of frames whose pattern was read.
  public var framesRead: Int
  /// The number of unreadable frames between readable ones.
  public var framesUnreadable: Int
  /// The count of frame numbers that the sender painted, from the first number read to the last.
  public var numbersPainted: Int
  /// The painted numbers that were never seen: dropped by the sender's encoder or lost.
  public var missing: Int
  /// Frames with a number that was seen before.
  public var doubled: Int
  /// Frames that arrived after a frame with a higher number and were not seen before.
  public var reordered: Int
  /// How often the pattern restarted.
  public var restarts: Int
  /// Audio marks that were found, and those expected between the first and the last.
  public var marksFound: Int
  public var marksExpected: Int
  /// The delay from the frame's timestamp to its arrival, by both wall clocks, in seconds. Nil if our wall clock is not
  /// known.
  public var videoDelay: Spread?
  /// The delay from the audio's timestamp until it could be heard, measured in the same way.
  public var audioDelay: Spread?
  /// The similarity of decoded frames to the painted ones.
  public var quality: FrameQuality?

  /// The similarity of decoded frames to painted ones by luma, for one frame about every half second.
  public struct FrameQuality: Sendable, Hashable, Codable {
    /// The number of compared frames.
    public var videoFrames: Int
    /// The peak signal-to-noise ratio in dB: the mean and the worst frame; at most 60.
    public var psnr: Double
    public var psnrWorst: Double
    /// The structural similarity, at most 1: the mean and the worst frame. Windows are 8x8 pixels, every 4 pixels, as
    /// in libvpx.
    public var ssim: Double
    public var ssimWorst: Double

    private enum CodingKeys: String, CodingKey {
      case videoFrames = "frames"
      case psnr, psnrWorst, ssim, ssimWorst
    }
  }
}

/// The frames of our pattern that a peer returned, counted from the first returned frame.
///
/// A frame that did not return counts as missing once a later one has returned, or after 2 s.
public struct ReturnReport: Sendable, Hashable, Codable {
  /// Frames that we sent and that had enough time to return.
  public var sent: Int
  /// The frames that returned.
  public var returned: Int
  /// The frames that did not return.
  public var missing: Int
  /// Frames that returned more than once.
  public var doubled: Int
  /// Frames that returned after a frame that was sent later.
  public var reordered: Int
  /// `returned` divided by `sent`.
  public var ratio: Double
  /// The time from sending a frame to its return, in seconds.
  public var roundTrip: Spread?
}

/// The audio/video skew in seconds: positive if the audio is late, negative if it is early.
public struct SkewReport: Sendable, Hashable, Codable {
  /// How the skew was measured.
  public var source: Source
  /// The skew on arrival, once a second.
  public var total: Spread
  /// The part that existed when the sender stamped its packets: its own clocks against the pattern. Nil without the
  /// pattern or without sender reports.
  public var sender: Double?
  /// The part that the network added: the sender's timestamps against the arrivals. Nil without sender reports.
  public var network: Double?
  /// The part that was added here because frames waited for earlier ones.
  public var receiver: Double?

  public enum Source: String, Sendable, Hashable, Codable {
    /// The pattern's audio marks against its frames: exact.
    case pattern
    /// The arrivals against the sender's own clock (RTCP sender reports): an estimate that does not include errors made
    /// before the sender stamped its packets.
    case senderReports
  }
}
