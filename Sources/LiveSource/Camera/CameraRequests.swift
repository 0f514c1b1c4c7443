/// Requests to a playing camera, until its threads handle them.
struct CameraRequests: Sendable {
  /// The bandwidth of a network path for all tracks together, in bits a second, and the fraction of packets that it
  /// loses.
  struct PathEstimate: Sendable, Hashable {
    var bitrate: Int
    var fractionLost: Double
  }

  /// A change of the viewers' network paths.
  enum Change: Sendable, Hashable {
    case adapt(PathEstimate)
    /// No viewer is left.
    case reset
  }

  private(set) var isOver = false
  /// Why playback ended early.
  private(set) var failure: String?
  private var wantsKeyframe = false
  private var pendingVideoChange: Change?
  private var pendingAudioChange: Change?
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

  mutating func adapt(to estimate: PathEstimate) {
    pendingVideoChange = .adapt(estimate)
    pendingAudioChange = .adapt(estimate)
  }

  mutating func reset() {
    pendingVideoChange = .reset
    pendingAudioChange = .reset
  }

  mutating func takeKeyframeRequest() -> Bool {
    defer { wantsKeyframe = false }
    return wantsKeyframe
  }

  mutating func takeVideoChange() -> Change? {
    defer { pendingVideoChange = nil }
    return pendingVideoChange
  }

  mutating func takeAudioChange() -> Change? {
    defer { pendingAudioChange = nil }
    return pendingAudioChange
  }
}
