import FileSource
import Media

/// What a camera is to play: inputs that were found good, and how they lie in time.
struct CameraPlan: Sendable {
  /// The input's name in messages.
  var name: String
  /// The file of each track, for messages.
  var files: [MediaKind: String] = [:]
  var videoFrames: CheckedVideo?
  var audio: CheckedAudio?
  var rounds: LoopSchedule
  var fit: VideoScaling?
  /// The even rate; nil for the frames' own times.
  var rate: VideoRate?
  var maximumBitrate: Int
  /// How often the video sizes changes; nil for never.
  var sizeChange: Duration?
  var owner: ParticipantID

  var tracks: Int { (videoFrames == nil ? 0 : 1) + (audio == nil ? 0 : 1) }

  /// Whether all is over when the frames are.
  var endsWithVideoFrames: Bool { videoFrames?.extent == .unknown }

  /// How long a round is: as long as the longest input that has a length.
  static func period(_ videoFrames: Extent?, _ audio: Extent?) -> Int64? {
    var ranges: [Range<Int64>] = []
    for case .range(let range)? in [videoFrames, audio] { ranges.append(range) }
    return ranges.isEmpty ? nil : max(FileTime.commonSpan, StoredFile.period(of: ranges))
  }
}

/// How inputs follow each other in time: all in units of `FileTime.rate`.
struct LoopSchedule: Sendable, Hashable {
  /// After how long the inputs start again; nil when none of them has a length.
  var period: Int64?
  /// Whether they do.
  var loops: Bool

  init(period: Int64?, loops: Bool) {
    self.period = period
    self.loops = loops
  }

  /// When what has no length of its own is to end; nil for never.
  var end: Int64? { loops ? nil : period }
}
