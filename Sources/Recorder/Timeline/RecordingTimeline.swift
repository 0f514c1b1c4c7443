package import Media
import NIOCore

/// The common timeline of all files of a participant: it accepts frames of both tracks as they arrive, and returns them
/// in order, with their positions.
///
/// ```
///           first frame                    reports of both tracks, or `alignmentDelay` is over
///   empty ───────────────► buffering both ─────────────────────────────────────────────────────► running
///                                                                                                 │  ▲
///         first frame of the other track, more than `alignmentDelay` after the first one          │  │
///                                                                                                 ▼  │
///         reports, or `lateTrackDelay` is over                                      buffering the late track
/// ```
///
/// The first frames of a call wait in memory for at most `alignmentDelay` (3 s), and so does a second track that begins
/// meanwhile. A track that begins later waits for at most `lateTrackDelay`; frames of the other track that belong after
/// its first one are buffered for the same time, so that both reach the files in order. Later, a frame waits for the
/// other track for at most `interleaveTimeout`, and for at most `recoveryTimeout` while that track waits for a
/// retransmission.
///
/// Audio is the time reference: its frames keep the intervals of the sender's media clock, so that audio is never
/// stretched. Video is aligned with it by sender reports, or by arrivals while there are none, and is moved when these
/// show an error: see `RecordingTimeline+AVSync`. Position zero is the first frame of either track.
package struct RecordingTimeline: Sendable {
  /// How long a frame that is ready waits for an earlier one of the other track.
  static let interleaveTimeout = Duration.milliseconds(200)
  /// How long it waits while the other track waits for a retransmission: slightly longer than that wait.
  static let recoveryTimeout = Duration.milliseconds(3_200)
  /// How long the first frames of a track that begins late wait for sender reports. Together with
  /// `OutputContainer.maximumWait`, counted from a frame's arrival, this is less than the second that may be lost when
  /// the program is killed.
  static let lateTrackDelay = Duration.milliseconds(400)
  /// How long faster frames than the first ones can still improve `origin`.
  static let originWindow = Duration.seconds(10)
  /// The maximum number of buffered bytes; with more, the frames get their positions before `alignmentDelay` is over.
  static let maximumBufferedBytes = 16 << 20

  private let alignmentDelay: Duration
  /// Audio, then video. In an array, because a track is large and accessed many times for each frame, so it must not be
  /// copied.
  var tracks = [Track(), Track()]
  /// The start and end of the current wait for sender reports; nil when no track waits for them.
  private var alignmentWindow: (since: MonotonicInstant, until: MonotonicInstant)?
  /// The memory of the waiting frames.
  private(set) var heldBytes = 0
  var syncCorrection = AVSyncCorrection()

  /// How the tracks were synchronised.
  package internal(set) var alignment = Alignment()
  /// The estimated arrival time of position zero, assuming the smallest delay seen so far; nil until the first frames
  /// have positions. It can become slightly earlier within the first 10 s, as faster frames arrive.
  package private(set) var origin: MonotonicInstant?
  private var originIsSettledAt: MonotonicInstant?
  /// The tracks that existed when the first frames got their positions.
  package private(set) var firstTracks: Set<MediaKind> = []

  /// - Parameter alignmentDelay: how long the first frames of the call wait for sender reports.
  package init(alignmentDelay: Duration) {
    self.alignmentDelay = alignmentDelay
  }

  /// Returns how often a track's timestamps were rejected.
  package func breaks(of kind: MediaKind) -> Int { tracks[index(of: kind)].timeline.breaks }

  /// Adds the next frame of a track.
  ///
  /// - Parameters:
  ///   - length: its playing time; nil for video, or if unknown.
  ///   - repair: how the recorder generated it; nil for a received frame.
  ///   - pause: the pause of the recording between it and the frame before it.
  package mutating func add(
    _ frame: EncodedFrame, length: Duration? = nil, repair: FrameRepair? = nil, pause: PauseSpan? = nil,
    now: MonotonicInstant
  ) {
    let kind = frame.codec.kind
    let entry = entry(of: frame, length: length, repair: repair)
    if !tracks[index(of: kind)].hasBegun { begin(kind, now: now) }
    let wasTrusted = tracks[index(of: kind)].timeline.isTrusted
    let hadUnconfirmedReport = tracks[index(of: kind)].timeline.hasUnconfirmedReport
    let other = lateness(besides: kind)
    let position = tracks[index(of: kind)].timeline.offset(entry, other: other)
    moveAfterStandstill(kind, newFrames: 1)
    noteUndecided(kind, other: other, now: now)
    if tracks[index(of: kind)].recoveringSince != nil { tracks[index(of: kind)].recoveredAt = now }
    tracks[index(of: kind)].recoveringSince = nil
    // Where the clock stood still during a pause, that is no gap of its own.
    let standstill = tracks[index(of: kind)].takeStandstill()
    tracks[index(of: kind)].queue.append(
      BufferedFrame(
        frame: frame, entry: entry, repair: repair, position: position, standstill: pause == nil ? standstill : .zero,
        pause: pause, received: now))
    tracks[index(of: kind)].framesSinceLeftOut? += 1
    heldBytes += frame.waitingCost
    if wasTrusted, !tracks[index(of: kind)].timeline.isTrusted { tracks[index(of: kind)].repositionBuffered() }
    refineOrigin(by: kind, now: now)
    if hadUnconfirmedReport, !tracks[index(of: kind)].timeline.hasUnconfirmedReport { useReports() }
    if kind == .video { correctByArrivals() }
  }

  func entry(of frame: EncodedFrame, length: Duration?, repair: FrameRepair? = nil) -> TrackTimeline.Entry {
    TrackTimeline.Entry(
      time: frame.time, arrival: frame.arrived, length: length,
      follows: (frame.gap?.packetsLost ?? 0) == 0 && repair == nil, isGenerated: repair != nil,
      isReordered: frame.isReordered, mayReorder: frame.codec.canReorderFrames)
  }

  /// Records that a retransmission was requested for a track: its next frame will be late.
  package mutating func recovering(_ kind: MediaKind, now: MonotonicInstant) {
    tracks[index(of: kind)].recoveringSince = tracks[index(of: kind)].recoveringSince ?? now
  }

  /// Returns the frames whose positions are final, in decoding order within a track, and apart from that in order of position.
  ///
  /// - Parameter everything: whether to return all frames, as at the end.
  package mutating func release(now: MonotonicInstant, everything: Bool = false) -> [TimestampedFrame] {
    if let alignmentWindow {
      let isOver = everything || now >= alignmentWindow.until || heldBytes > Self.maximumBufferedBytes
      if isOver || isReady { settle(now: now) }
    }
    var timestamped: [TimestampedFrame] = []
    while let kind = nextKind(now: now, everything: everything) {
      let buffered = tracks[index(of: kind)].queue.removeFirst()
      heldBytes -= buffered.frame.waitingCost
      timestamped.append(
        TimestampedFrame(
          frame: buffered.frame, position: finalPosition(of: buffered, kind), repair: buffered.repair,
          standstill: buffered.standstill, pause: buffered.pause))
    }
    return timestamped
  }

  /// Ends the wait for sender reports, because memory is short: the tracks are aligned by what is known now, and later
  /// reports correct that.
  package mutating func endAlignment(now: MonotonicInstant) {
    if alignmentWindow != nil { settle(now: now) }
  }

  // MARK: Buffering

  struct BufferedFrame: Sendable {
    var frame: EncodedFrame
    var entry: TrackTimeline.Entry
    var repair: FrameRepair?
    /// The position on the track's own timeline.
    var position: Duration
    /// For how long the media clock stood still before it.
    var standstill = Duration.zero
    var pause: PauseSpan?
    var received: MonotonicInstant
  }

  struct Track: Sendable {
    var timeline = TrackTimeline()
    /// Whether a frame of it has been added.
    var hasBegun = false
    /// How many frames were added after the last one that was left out; nil if none was.
    var framesSinceLeftOut: Int?
    var report: ClockReport?
    /// The difference between positions in the recording and on this timeline; nil until it is determined.
    var shift: Duration?
    var queue = CircularBuffer<BufferedFrame>()
    var lastTimestamped = Duration.zero
    /// A standstill before the next frame, if all earlier ones have been released.
    var standstill = Duration.zero
    /// The position of the last released frame on this timeline.
    var lastTimelinePosition = Duration.zero
    /// The last released frames of a codec that reorders them, by their positions on this timeline.
    var released = RecentPositions()
    /// When the wait for a missing packet began.
    var recoveringSince: MonotonicInstant?
    /// When the first frame after such a wait arrived; those queued behind it follow immediately, one by one.
    var recoveredAt: MonotonicInstant?

    /// The position on this timeline at which the recording of the track begins, until its first frame is released: zero, unless
    /// frames before it were left out.
    var beginning: Duration { framesSinceLeftOut == nil ? .zero : queue.first?.position ?? .zero }

    /// Recalculates the positions of all frames by their arrivals, if none has been released.
    mutating func repositionBuffered() {
      guard shift == nil, let first = queue.first else { return }
      timeline = .byArrivals(from: first.entry.arrival)
      for index in queue.indices { queue[index].position = timeline.offset(queue[index].entry) }
    }

    /// Moves the last frames later, except those that have been released.
    mutating func moveBuffered(_ frames: Int, by distance: Duration) {
      let moved = queue.indices.suffix(frames)
      for index in moved { queue[index].position += distance }
      if let first = moved.first { queue[first].standstill += distance } else { standstill += distance }
    }

    /// Returns, once, the standstill before the next frame.
    mutating func takeStandstill() -> Duration {
      defer { standstill = .zero }
      return standstill
    }

    /// Returns how long the other track's frames wait for this track's.
    func timeout(now: MonotonicInstant) -> Duration {
      if timeline.isUndecided(now: now) { return StandstillDetector.hold }
      if let recoveringSince, now - recoveringSince < RecordingTimeline.recoveryTimeout {
        return RecordingTimeline.recoveryTimeout
      }
      if let recoveredAt, now - recoveredAt < RecordingTimeline.interleaveTimeout {
        return RecordingTimeline.recoveryTimeout
      }
      return RecordingTimeline.interleaveTimeout
    }

    /// Returns the position of the next frame, if it is final.
    func next(now: MonotonicInstant, everything: Bool) -> Duration? {
      guard let shift, let first = queue.first, everything || !timeline.isUndecided(now: now) else { return nil }
      return first.position + shift
    }
  }

  /// The indices of the tracks in `tracks`.
  var audio: Int { 0 }
  var video: Int { 1 }

  /// Returns the index of a track in `tracks`. The array is indexed at each access: Swift 6.3 copies what a getter of our own
  /// returns, and releases once too often what a reading coroutine yields.
  func index(of kind: MediaKind) -> Int { kind == .audio ? audio : video }

  /// Starts the wait for sender reports when a track has its first frame.
  private mutating func begin(_ kind: MediaKind, now: MonotonicInstant) {
    let isFirst = !tracks[audio].hasBegun && !tracks[video].hasBegun
    tracks[index(of: kind)].hasBegun = true
    if alignmentWindow != nil { return }
    alignmentWindow = (now, now + (isFirst ? alignmentDelay : min(alignmentDelay, Self.lateTrackDelay)))
  }

  private var isReady: Bool {
    tracks[audio].hasBegun && tracks[video].hasBegun && reportedOffset != nil
      && !tracks[audio].timeline.isSuspicious
      && !tracks[video].timeline.isSuspicious
  }

  /// Ends the wait for sender reports: determines the shift of every track that has frames.
  private mutating func settle(now: MonotonicInstant) {
    alignmentWindow = nil
    switch (tracks[audio].hasBegun, tracks[video].hasBegun) {
    case (true, true):
      let offset = measureOffset()
      if let shift = tracks[audio].shift {
        tracks[video].shift = shift + offset
      } else if let shift = tracks[video].shift {
        tracks[audio].shift = shift - offset
      } else {
        let zero = min(tracks[audio].beginning, offset + tracks[video].beginning)
        tracks[audio].shift = .zero - zero
        tracks[video].shift = offset - zero
      }
    case (true, false): tracks[audio].shift = .zero - tracks[audio].beginning
    case (false, true): tracks[video].shift = .zero - tracks[video].beginning
    case (false, false): return
    }
    if origin != nil { return }
    firstTracks = Set(MediaKind.allCases.filter { tracks[index(of: $0)].shift != nil })
    originIsSettledAt = now + Self.originWindow
    for kind in MediaKind.allCases { refineOrigin(by: kind, now: now) }
  }

  mutating func refineOrigin(by kind: MediaKind, now: MonotonicInstant) {
    guard let originIsSettledAt, now <= originIsSettledAt, let shift = tracks[index(of: kind)].shift,
      let earliest = tracks[index(of: kind)].timeline.delays.earliest
    else { return }
    let measured = earliest - shift
    origin = origin.map { min($0, measured) } ?? measured
  }

  // MARK: Releasing

  /// Returns the track whose next frame may be released.
  private func nextKind(now: MonotonicInstant, everything: Bool) -> MediaKind? {
    let firstAudio = tracks[audio].next(now: now, everything: everything)
    let firstVideo = tracks[video].next(now: now, everything: everything)
    let kind: MediaKind
    let position: Duration
    switch (firstAudio, firstVideo) {
    case (nil, nil): return nil
    case (let audio?, let video?): return video <= audio ? .video : .audio
    case (let audio?, nil): (kind, position) = (.audio, audio)
    case (nil, let video?): (kind, position) = (.video, video)
    }
    guard !everything, let received = tracks[index(of: kind)].queue.first?.received else { return kind }
    let other = kind == .audio ? MediaKind.video : .audio
    if tracks[index(of: other)].shift == nil { return alignmentWindow.map { received < $0.since } ?? true ? kind : nil }
    return tracks[index(of: other)].lastTimestamped >= position
      || now - received >= tracks[index(of: other)].timeout(now: now) ? kind : nil
  }

  private mutating func finalPosition(of buffered: BufferedFrame, _ kind: MediaKind) -> Duration {
    let mayReorder = buffered.entry.mayReorder
    let candidate = buffered.position + (tracks[index(of: kind)].shift ?? .zero)
    if buffered.entry.isReordered,
      let position = tracks[index(of: kind)].released.position(at: buffered.position, candidate: candidate)
    {
      tracks[index(of: kind)].released.add(buffered.position, at: position)
      return position
    }
    if kind == .video { moveVideo(to: buffered.position) }
    let position = max(
      tracks[index(of: kind)].lastTimestamped, buffered.position + (tracks[index(of: kind)].shift ?? .zero))
    if mayReorder { tracks[index(of: kind)].released.add(buffered.position, at: position) }
    tracks[index(of: kind)].lastTimelinePosition = buffered.position
    tracks[index(of: kind)].lastTimestamped = position
    return position
  }
}
