/// The test pattern in what a peer sends.
public struct PatternReport: Sendable, Hashable, Codable {
  /// The pattern's stream id; of several the last.
  public var streamID: Int
  /// Frames that were read.
  public var picturesRead: Int
  /// Frames between read ones that could not be read.
  public var picturesUnreadable: Int
  /// Numbers that the sender painted, from the first read to the last.
  public var numbersPainted: Int
  /// Those of them that were never seen: skipped by the sender's encoder or lost.
  public var missing: Int
  /// Frames that came with a number that had been there.
  public var doubled: Int
  /// Frames that came after one with a higher number, and had not been there.
  public var reordered: Int
  /// How often the pattern started again.
  public var restarts: Int
  /// Marks of the audio that were found, and that should have been there between the first and the last.
  public var marksFound: Int
  public var marksExpected: Int
  /// From the frame's time to its arrival, by both wall clocks, in seconds. Nil when our wall clock is not known.
  public var videoDelay: Spread?
  /// From the audio's time to when it could be heard, in the same way.
  public var audioDelay: Spread?
  /// How like the frames are to those that were painted.
  public var quality: FrameQuality?

  /// The likeness of decoded frames to painted ones, by luma, of a frame about twice a second.
  public struct FrameQuality: Sendable, Hashable, Codable {
    /// Frames that were compared.
    public var videoFrames: Int
    /// Peak signal-to-noise ratio in dB: the mean, and the worst frame; 60 at most.
    public var psnr: Double
    public var psnrWorst: Double
    /// Structural similarity, to 1: the mean, and the worst frame. Windows of 8x8 every 4 pixels, as libvpx has it.
    public var ssim: Double
    public var ssimWorst: Double

    private enum CodingKeys: String, CodingKey {
      case videoFrames = "pictures"
      case psnr, psnrWorst, ssim, ssimWorst
    }
  }
}

/// What came back of the pattern that we sent, counted frame by frame from the first that came back on.
///
/// A frame that did not come back counts as missing once a later one came back, or when it had 2 s to do so.
public struct ReturnReport: Sendable, Hashable, Codable {
  /// Frames that we sent and that had the time to come back.
  public var sent: Int
  /// Those of them that came back.
  public var returned: Int
  /// Those that did not.
  public var missing: Int
  /// Frames that came back once more.
  public var doubled: Int
  /// Frames that came back after one that was sent later.
  public var reordered: Int
  /// `returned` of `sent`.
  public var ratio: Double
  /// From sending a frame to its return, in seconds.
  public var roundTrip: Spread?
}

/// How far audio and video are apart, in seconds: above 0 the audio is late, below it is early.
public struct SkewReport: Sendable, Hashable, Codable {
  /// How it was told.
  public var source: Source
  /// As it arrives: once a second.
  public var total: Spread
  /// What of it was there when the sender stamped its packets: its own clocks against the pattern. Nil without the pattern or
  /// without sender reports.
  public var sender: Double?
  /// What of it was added on the way, by the sender's stamps against the arrivals. Nil without sender reports.
  public var network: Double?
  /// What of it was added here, by frames that waited for those before them.
  public var receiver: Double?

  public enum Source: String, Sendable, Hashable, Codable {
    /// The marks of the pattern's audio against the pattern's frames: exact.
    case pattern
    /// The arrivals against the sender's own clock (RTCP sender reports): an estimate, which cannot see what went wrong before
    /// the sender stamped its packets.
    case senderReports
  }
}
