import FileSource
import Media

/// What a camera plays: checked inputs and their schedule.
struct CameraPlan: Sendable {
  /// The input's name in messages.
  var name: String
  /// The file of each track, for messages.
  var files: [MediaKind: String] = [:]
  var video: CheckedVideo?
  /// Video that is sent as stored instead of `video`.
  var storedVideo: StoredVideoPlan?
  var audio: CheckedAudio?
  var rounds: LoopSchedule
  var fit: VideoScaling?
  /// The constant frame rate; nil to keep the frames' own times.
  var rate: VideoRate?
  var videoCodec: Codec
  var maximumBitrate: Int
  /// The interval between changes of the frame size; nil for none.
  var sizeChange: Duration?
  var owner: ParticipantID

  var hasVideo: Bool { video != nil || storedVideo != nil }

  var tracks: Int { (hasVideo ? 1 : 0) + (audio == nil ? 0 : 1) }

  /// Whether playback ends when the video does.
  var endsWithVideo: Bool { video?.extent == .unknown }

  /// Returns the duration of a round: that of the longest input whose duration is known.
  static func period(_ video: Extent?, _ audio: Extent?) -> Int64? {
    var ranges: [Range<Int64>] = []
    for case .range(let range)? in [video, audio] { ranges.append(range) }
    return ranges.isEmpty ? nil : max(MediaTimebase.commonSpan, StoredFile.period(of: ranges))
  }
}

/// The schedule of a loop, in units of `MediaTimebase.rate`.
struct LoopSchedule: Sendable, Hashable {
  /// The time after which the inputs restart; nil if none of them has a known duration.
  var period: Int64?
  /// Whether the inputs restart.
  var loops: Bool

  init(period: Int64?, loops: Bool) {
    self.period = period
    self.loops = loops
  }

  /// When inputs of unlimited duration end; nil for never.
  var end: Int64? { loops ? nil : period }
}
