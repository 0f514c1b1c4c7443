/// What others want of a playing camera, until its threads take it.
struct CameraRequests: Sendable {
  /// What a line takes, all tracks together, in bits a second, and the share of packets that it loses.
  struct Line: Sendable, Hashable {
    var bitrate: Int
    var fractionLost: Double
  }

  /// What has become of the viewers' lines.
  enum Change: Sendable, Hashable {
    case follow(Line)
    /// There is no viewer any more.
    case reset
  }

  private(set) var isOver = false
  /// Why it is over before its time.
  private(set) var failure: String?
  private var wantsKeyframe = false
  private var timelineForVideo: Change?
  private var timelineForAudio: Change?
  /// Tracks that have not ended.
  private var openTracks: Int

  init(tracks: Int) {
    openTracks = tracks
  }

  mutating func end(failure: String? = nil) {
    if !isOver { self.failure = failure }
    isOver = true
  }

  /// - Returns: whether it was the last one.
  mutating func trackEnded() -> Bool {
    openTracks -= 1
    return openTracks == 0
  }

  mutating func requestKeyframe() { wantsKeyframe = true }

  mutating func follow(_ line: Line) {
    timelineForVideo = .follow(line)
    timelineForAudio = .follow(line)
  }

  mutating func reset() {
    timelineForVideo = .reset
    timelineForAudio = .reset
  }

  mutating func takeKeyframeRequest() -> Bool {
    defer { wantsKeyframe = false }
    return wantsKeyframe
  }

  mutating func takeTimelineForVideo() -> Change? {
    defer { timelineForVideo = nil }
    return timelineForVideo
  }

  mutating func takeTimelineForAudio() -> Change? {
    defer { timelineForAudio = nil }
    return timelineForAudio
  }
}
