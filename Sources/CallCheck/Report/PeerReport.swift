/// What was measured of one peer.
public struct PeerReport: Sendable, Hashable, Codable {
  /// The id that the server gave to it.
  public var id: String
  /// How far the call with it came.
  public var reached: CallProgress
  /// The same as a sentence, with what stood in the way.
  public var progress: String
  /// When what happened.
  public var steps: CallSteps
  /// How it went away; nil when it was there to the end.
  public var departure: Departure?
  /// How long before the check's end its media ended because it had left; 0 when it stayed.
  public var absent: Double
  /// What the line did, both ways.
  public var connection: ConnectionReport
  /// Frames; nil when not one was decoded.
  public var video: VideoReport?
  /// Audio; nil when none was decoded.
  public var audio: AudioReport?
  /// Kinds of media of which frames came and not one could be decoded: `audio`, `video`; nil when there was none.
  public var undecoded: [String]?
  /// How far audio and video are apart; nil when that could not be told.
  public var skew: SkewReport?
  /// The test pattern in what it sends; nil when none was found.
  public var pattern: PatternReport?
  /// What came back of the pattern that we sent; nil when nothing did.
  public var returned: ReturnReport?
  /// How long before the check's end it came, where that was too late for it to be judged; nil when it was judged.
  public var cameLate: Double?
  /// The call in steps of time.
  public var timeline: CheckTimeline
  /// Frames that came and were not looked at; nil when all were.
  public var leftOut: SkippedFramesReport?
  /// A few frames, evenly spread.
  public var thumbnails: [Thumbnail]
  /// Media files of it, by path, for a report that plays them; anyone who wrote them fills them in.
  public var recordings: [String] = []

  /// How a peer went away.
  public struct Departure: Sendable, Hashable, Codable {
    /// When that was known.
    public var time: Double
    public var cause: Cause
    /// What was said about it.
    public var sentence: String

    public enum Cause: String, Sendable, Hashable, Codable, CaseIterable {
      /// It left the room.
      case left
      /// Nothing was heard from it any more.
      case connectionLost
      /// The call with it could not be made, or could not continue.
      case failed
      /// We ended the call with it.
      case closedByUs
    }
  }
}

/// How far a call with a peer came, the later the further.
public enum CallProgress: String, Sendable, Hashable, Codable, CaseIterable, Comparable {
  /// Nothing is known of it but its media, as of a recording.
  case nothing
  case seen
  /// An offer was sent, or one came.
  case offered
  /// The answer was sent, or came.
  case answered
  /// One of our ICE checks was answered.
  case checked
  case iceConnected
  case dtlsConnected
  /// Packets of media came.
  case packets
  /// A video or audio was decoded.
  case media

  public static func < (one: Self, other: Self) -> Bool { one.rank < other.rank }

  private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// Frames of a peer that came and were not looked at, because the checking program's machine did not keep up with decoding. What
/// they would have shown was not measured, and no rule about it holds.
public struct SkippedFramesReport: Sendable, Hashable, Codable {
  /// How many.
  public var videoFrames: Int
  /// When the first and the last of them came.
  public var first: Double
  public var last: Double

  private enum CodingKeys: String, CodingKey {
    case videoFrames = "pictures"
    case first, last
  }

  public init(videoFrames: Int, first: Double, last: Double) {
    self.videoFrames = videoFrames
    self.first = first
    self.last = last
  }

  /// Why a measurement cannot be told, as a clause.
  var clause: String {
    "this machine could not decode all that came: \(videoFrames) \(videoFrames == 1 ? "frame was" : "frames were") skipped"
  }
}
