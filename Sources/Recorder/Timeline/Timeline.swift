import Media
import NIOCore

/// The one line of time on which all files of a participant lie: frames of both tracks go in as they come, and come out in
/// order with their places.
///
/// ```
///            first frame of a track                reports of both tracks, or `hold` is over
///   empty ─────────────────────────► holding ─────────────────────────────────────────────► running
///                                       ▲                                                      │
///                                       └──────────── first frame of the other track ──────────┘
/// ```
///
/// While it holds, nothing comes out. Audio is the master: its frames keep the distances that the sender's media clock
/// gave them, so that sound is never stretched. Video is laid beside it by sender reports, and moved slowly when later
/// reports say that the two clocks drift. Position zero is the first frame of either track.
struct Timeline: Sendable {
  /// How long a frame that is ready waits for an earlier one of the other track.
  static let patience = Duration.milliseconds(200)
  /// How much faster or slower video may run while it is moved into step.
  static let correctionSpeed = 0.05
  /// Bytes that may be held; with more, the hold is over.
  static let largestHold = 16 << 20

  private let hold: Duration
  private var audio = Track()
  private var video = Track()
  private var holdingSince: ContinuousClock.Instant?
  private var heldBytes = 0
  /// What video's line is to be shifted by beyond audio's, by all reports so far; nil while none told.
  private var target: Duration?

  /// How the tracks were aligned.
  private(set) var alignment = Alignment()
  /// When position zero would have arrived with the least delay seen; nil until the first frames are placed.
  private(set) var origin: ContinuousClock.Instant?
  /// The tracks that were there when the first frames were placed.
  private(set) var firstTracks: Set<MediaKind> = []

  /// - Parameter hold: how long the first frames of a track wait for sender reports.
  init(hold: Duration) {
    self.hold = hold
  }

  /// How often a track's timestamps were not to be believed.
  func breaks(of kind: MediaKind) -> Int { self[kind].line.breaks }

  /// Takes the next frame of a track.
  mutating func add(_ frame: EncodedFrame, now: ContinuousClock.Instant) {
    let position = self[frame.codec.kind].line.place(frame.time, arrival: frame.arrival)
    self[frame.codec.kind].delays.add(arrival: frame.arrival, position: position)
    self[frame.codec.kind].queue.append(Held(frame: frame, position: position, received: now))
    heldBytes += frame.payload.readableBytes
    if self[frame.codec.kind].shift == nil, holdingSince == nil { holdingSince = now }
  }

  /// Takes a sender report.
  mutating func add(_ report: ClockReport) {
    self[report.codec.kind].report = report
    alignment.reports += 1
    guard let audioShift = audio.shift, let videoShift = video.shift, let offset = reportedOffset else { return }
    let applied = videoShift - audioShift
    let distance = offset - applied
    if distance > TrackLine.tolerance || distance < .zero - TrackLine.tolerance { return }
    // One report is a few milliseconds off; what all of them say together is not.
    let smoothed = target.map { $0 + (offset - $0) / 8 } ?? offset
    target = smoothed
    let measured = smoothed - applied
    let wrong = measured < .zero ? .zero - measured : measured
    alignment.error =
      alignment.source == .senderReports ? max(alignment.error, wrong) : wrong
    alignment.source = .senderReports
  }

  /// Gives the frames whose places are settled, in order of position and within a track in decoding order.
  ///
  /// - Parameter everything: whether nothing may stay behind, as at the end.
  mutating func release(now: ContinuousClock.Instant, everything: Bool = false) -> [PlacedFrame] {
    if let holdingSince {
      let isOver = everything || now - holdingSince >= hold || heldBytes > Self.largestHold
      let isReady = audio.line.hasStarted && video.line.hasStarted && reportedOffset != nil
      if !isOver && !isReady { return [] }
      settle()
    }
    var placed: [PlacedFrame] = []
    while let kind = nextKind(now: now, everything: everything) {
      let held = self[kind].queue.removeFirst()
      heldBytes -= held.frame.payload.readableBytes
      placed.append(PlacedFrame(frame: held.frame, position: finalPosition(of: held, kind)))
    }
    return placed
  }

  // MARK: Placing

  private struct Held: Sendable {
    var frame: EncodedFrame
    /// On the track's own line.
    var position: Duration
    var received: ContinuousClock.Instant
  }

  private struct Track: Sendable {
    var line = TrackLine()
    var delays = DelayWindow()
    var report: ClockReport?
    /// What turns a position of the line into one of the recording; nil until that is settled.
    var shift: Duration?
    var queue = CircularBuffer<Held>()
    var lastPlaced = Duration.zero
    /// The line's position of the last placed frame.
    var lastLine = Duration.zero
  }

  private subscript(kind: MediaKind) -> Track {
    get { kind == .audio ? audio : video }
    _modify {
      if kind == .audio { yield &audio } else { yield &video }
    }
  }

  private var reportedOffset: Duration? {
    guard let first = audio.report, let second = video.report else { return nil }
    return ReportPair(audio: first, video: second).offset(audioLine: audio.line, videoLine: video.line)
  }

  /// Ends a hold: gives every track that has frames its shift.
  private mutating func settle() {
    holdingSince = nil
    switch (audio.line.hasStarted, video.line.hasStarted) {
    case (true, true):
      let offset = measureOffset()
      if let shift = audio.shift {
        video.shift = shift + offset
      } else if let shift = video.shift {
        audio.shift = shift - offset
      } else {
        let zero = min(.zero, offset)
        audio.shift = .zero - zero
        video.shift = offset - zero
      }
    case (true, false): audio.shift = .zero
    case (false, true): video.shift = .zero
    case (false, false): return
    }
    if origin != nil { return }
    origin = [audio, video].compactMap { track in
      track.shift.flatMap { shift in track.delays.earliest.map { $0 - shift } }
    }.min()
    firstTracks = Set(MediaKind.allCases.filter { self[$0].shift != nil })
  }

  /// The offset between the two lines by the best that is known, noted in `alignment`.
  private mutating func measureOffset() -> Duration {
    if let offset = reportedOffset {
      alignment.source = .senderReports
      target = offset
      return offset
    }
    alignment.source = .arrivals
    alignment.error = max(audio.delays.spread, video.delays.spread)
    guard let first = audio.delays.earliest, let second = video.delays.earliest else { return .zero }
    return second - first
  }

  /// The track whose next frame may come out.
  private func nextKind(now: ContinuousClock.Instant, everything: Bool) -> MediaKind? {
    let firstAudio = audio.queue.first.map { $0.position + (audio.shift ?? .zero) }
    let firstVideo = video.queue.first.map { $0.position + (video.shift ?? .zero) }
    let kind: MediaKind
    switch (firstAudio, firstVideo) {
    case (nil, nil): return nil
    case (let audio?, let video?): return video <= audio ? .video : .audio
    case (_?, nil): kind = .audio
    case (nil, _?): kind = .video
    }
    let other = self[kind == .audio ? .video : .audio]
    guard !everything, other.shift != nil, let next = self[kind].queue.first else { return kind }
    let position = next.position + (self[kind].shift ?? .zero)
    return other.lastPlaced >= position || now - next.received >= Self.patience ? kind : nil
  }

  private mutating func finalPosition(of held: Held, _ kind: MediaKind) -> Duration {
    if kind == .video { moveVideo(to: held.position) }
    let position = max(self[kind].lastPlaced, held.position + (self[kind].shift ?? .zero))
    self[kind].lastLine = held.position
    self[kind].lastPlaced = position
    return position
  }

  /// Moves video towards where the reports want it, as far as the time since the last frame allows.
  private mutating func moveVideo(to position: Duration) {
    guard let target, let audioShift = audio.shift, let shift = video.shift else { return }
    let wanted = audioShift + target - shift
    let step = min(max(.zero, position - video.lastLine), .seconds(1)) * Self.correctionSpeed
    let moved = min(max(wanted, .zero - step), step)
    video.shift = shift + moved
    alignment.correction += moved
  }
}
