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
  /// Pictures; nil when not one was decoded.
  public var video: VideoReport?
  /// Sound; nil when none was decoded.
  public var audio: AudioReport?
  /// Kinds of media of which frames came and not one could be decoded: `audio`, `video`; nil when there was none.
  public var undecoded: [String]?
  /// How far sound and pictures are apart; nil when that could not be told.
  public var skew: SkewReport?
  /// The test pattern in what it sends; nil when none was found.
  public var pattern: PatternReport?
  /// What came back of the pattern that we sent; nil when nothing did.
  public var returned: ReturnReport?
  /// How long before the check's end it came, where that was too late for it to be judged; nil when it was judged.
  public var cameLate: Double?
  /// The call in steps of time.
  public var timeline: CheckTimeline
  /// Pictures that came and were not looked at; nil when all were.
  public var leftOut: LeftOutReport?
  /// A few pictures, evenly spread.
  public var thumbnails: [Thumbnail]
  /// Media files of it, by path, for a report that plays them; whoever wrote them fills them in.
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
      /// The call with it could not be made, or could not go on.
      case failed
      /// We ended the call with it.
      case closedByUs
    }
  }
}
