/// Requests to a playing camera, until its threads handle them.
struct CameraRequests: Sendable {
  /// The bandwidth of a network path for all tracks together, in bits a second, and the fraction of packets that it
  /// loses.
  struct Line: Sendable, Hashable {
    var bitrate: Int
    var fractionLost: Double
  }

  /// A change of the viewers' network paths.
  enum Change: Sendable, Hashable {
    case follow(Line)
    /// No viewer is left.
    case reset
  }

  private(set) var isOver = false
  /// Why playback ended early.
  private(set) var failure: String?
  private var wantsKeyframe = false
  private var timelineForVideo: Change?
  private var timelineForAudio: Change?
  /// The number of tracks that have not ended.
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
