/// The measurements of a further stream of a peer, such as a screen beside the camera. The measurements of the connection,
/// and of the first stream, are in ``PeerReport``.
public struct StreamReport: Sendable, Hashable, Codable {
  /// The stream's number among those of the peer, from 2.
  public var number: Int
  /// The stream's id in the peer's description; nil if it has none.
  public var id: String?
  /// What the stream shows, as the peer's description says it, for example `slides`; nil if it does not.
  public var content: String?
  /// When the first frame and the first audio packet were decoded; nil if none was.
  public var firstFrame: Double?
  public var firstSound: Double?
  /// The received packets.
  public var received: ReceivedTracks
  /// The codecs in which the media arrived; nil if none did.
  public var codecs: TrackCodecs?
  /// The video; nil if no frame was decoded.
  public var video: VideoReport?
  /// The audio; nil if none was decoded.
  public var audio: AudioReport?
  /// Kinds of media that arrived without one decodable frame: `audio`, `video`; nil for none.
  public var undecoded: [String]?
  /// Why the first frame of such a video could not be decoded, or of such audio alone, as a clause; nil if that is not known.
  public var undecodedReason: String?
  /// The audio/video skew; nil if it could not be measured.
  public var skew: SkewReport?
  /// The test pattern in the stream; nil if none was found.
  public var pattern: PatternReport?
  /// The frames of our stream with this number that the peer returned; nil if it returned none.
  public var returned: ReturnReport?
  /// The stream in steps of time. What we sent is nil in all steps.
  public var timeline: CheckTimeline
  /// Frames that arrived and were not decoded; nil if all were.
  public var skippedFrames: SkippedFramesReport?
  /// What arrived and was not decoded, because no process decodes it; nil if there is none.
  public var unverified: UnverifiedReport?
  /// A few frames, evenly distributed over the call.
  public var thumbnails: [Thumbnail]

  /// The received packets by track; nil if nothing was counted.
  public struct ReceivedTracks: Sendable, Hashable, Codable {
    public var audio: ConnectionReport.Received?
    public var video: ConnectionReport.Received?
  }

  /// The maximum number of streams of a peer that are judged: the numbers 1 to 16.
  package static let maximumCount = 16

  /// The stream for people, for example "stream 2 (slides)".
  package var title: String {
    let shown = content.map { ReportText.line($0, limit: 40) } ?? ""
    return "stream \(number)" + (shown.isEmpty ? "" : " (\(shown))")
  }

  /// A stream's number as a word, for example "second".
  static func ordinal(_ number: Int) -> String {
    let words = [
      "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
      "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth",
    ]
    return words.indices.contains(number - 1) ? words[number - 1] : "\(number)th"
  }
}
