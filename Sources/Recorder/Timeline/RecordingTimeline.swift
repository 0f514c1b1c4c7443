import Media
import NIOCore

/// The one line of time on which all files of a participant lie: frames of both tracks go in as they come, and come out in
/// order with their places.
///
/// ```
///            first frame                    reports of both tracks, or `hold` is over
///   empty ────────────────► holding both ──────────────────────────────────────────────► running
///                                                                                          │  ▲
///                     first frame of the other track, more than `hold` after the first one ▼  │ reports, or `lateHold` is over
///                                                                                     late track held
/// ```
///
/// The first frames of a call wait in memory for at most `hold` (3 s), and so does a second track that begins meanwhile. A
/// track that begins later waits for at most `lateHold`; frames of the other one that belong behind its first are kept
/// back as long, so that both reach the files in order. Later a frame waits for the other track for at most `patience`, and
/// for at most `recoveryPatience` while that one waits for a packet that was requested again.
///
/// Audio is the master: its frames keep the distances that the sender's media clock gave them, so that audio is never
/// stretched. Video is laid beside it by sender reports, or while there are none by the arrivals, and moved when they say
/// that the two are apart: see `RecordingTimeline+Steering`. Position zero is the first frame of either track.
struct RecordingTimeline: Sendable {
  /// How long a frame that is ready waits for an earlier one of the other track.
  static let patience = Duration.milliseconds(200)
  /// How long it waits while the other track waits for a missing packet that was requested: as long as that is, and a little.
  static let recoveryPatience = Duration.milliseconds(3_200)
  /// How long the first frames of a track that begins late wait for sender reports. With `MediaFile.maximumWait` counted
  /// from a frame's arrival, less than the second that a killed program may lose.
  static let lateHold = Duration.milliseconds(400)
  /// How long `origin` is made more exact by frames that came faster than the first ones.
  static let originWindow = Duration.seconds(10)
  /// Bytes that may be held; with more, the hold is over.
  static let maximumHold = 16 << 20

  private let hold: Duration
  /// Audio, then video. In an array, because a track is large and requested many times for each frame: it is used in place.
  private var tracks = [Track(), Track()]
  /// When the hold that is on now began, and when it is over.
  private var holding: (since: MonotonicInstant, until: MonotonicInstant)?
  /// The memory that the frames that wait take.
  private(set) var heldBytes = 0
  var steering = Steering()

  /// How the tracks were aligned.
  var alignment = Alignment()
  /// When position zero would have arrived with the least delay seen; nil until the first frames are placed. It can become
  /// a little earlier within the first 10 s, as faster frames come.
  private(set) var origin: MonotonicInstant?
  private var originIsSettledAt: MonotonicInstant?
  /// The tracks that were there when the first frames were placed.
  private(set) var firstTracks: Set<MediaKind> = []

  /// - Parameter hold: how long the first frames of the call wait for sender reports.
  init(hold: Duration) {
    self.hold = hold
  }

  /// How often a track's timestamps were not to be trusted.
  func breaks(of kind: MediaKind) -> Int { self[kind].line.breaks }

  /// Takes the next frame of a track.
  ///
  /// - Parameters:
  ///   - length: how long it is heard; nil for a frame, or where that is not known.
  ///   - repair: how the recorder made it; nil for one that came.
  mutating func add(
    _ frame: EncodedFrame, length: Duration? = nil, repair: FrameRepair? = nil, now: MonotonicInstant
  ) {
    let kind = frame.codec.kind
    let entry = TrackTimeline.Entry(
      time: frame.time, arrival: frame.arrived, length: length,
      follows: (frame.gap?.packetsLost ?? 0) == 0 && repair == nil)
    if !self[kind].line.hasStarted { begin(now: now) }
    let wasTrusted = self[kind].line.isTrusted
    let position = self[kind].line.offset(entry)
    if let move = self[kind].line.takeMove() { self[kind].moveHeld(move.frames, by: move.by) }
    if self[kind].recoveringSince != nil { self[kind].recoveredAt = now }
    self[kind].recoveringSince = nil
    self[kind].queue.append(Held(frame: frame, entry: entry, repair: repair, position: position, received: now))
    heldBytes += frame.waitingCost
    if wasTrusted, !self[kind].line.isTrusted { self[kind].replaceHeld() }
    refineOrigin(by: kind, now: now)
    if kind == .video { steerByArrivals() }
  }

  /// A packet of a track is missing and has been requested: its next frame comes late.
  mutating func recovering(_ kind: MediaKind, now: MonotonicInstant) {
    self[kind].recoveringSince = self[kind].recoveringSince ?? now
  }

  /// Gives the frames whose places are settled, in order of position and within a track in decoding order.
  ///
  /// - Parameter everything: whether nothing may stay behind, as at the end.
  mutating func release(now: MonotonicInstant, everything: Bool = false) -> [TimestampedFrame] {
    if let holding {
      let isOver = everything || now >= holding.until || heldBytes > Self.maximumHold
      if isOver || isReady { settle(now: now) }
    }
    var timestamped: [TimestampedFrame] = []
    while let kind = nextKind(now: now, everything: everything) {
      let held = self[kind].queue.removeFirst()
      heldBytes -= held.frame.waitingCost
      timestamped.append(
        TimestampedFrame(frame: held.frame, position: finalPosition(of: held, kind), repair: held.repair))
    }
    return timestamped
  }

  // MARK: Holding

  struct Held: Sendable {
    var frame: EncodedFrame
    var entry: TrackTimeline.Entry
    var repair: FrameRepair?
    /// On the track's own line.
    var position: Duration
    var received: MonotonicInstant
  }

  struct Track: Sendable {
    var line = TrackTimeline()
    var report: ClockReport?
    /// What turns a position of the line into one of the recording; nil until that is settled.
    var shift: Duration?
    var queue = CircularBuffer<Held>()
    var lastTimestamped = Duration.zero
    /// The line's position of the last placed frame.
    var lastLine = Duration.zero
    /// Since when a missing packet has been waited for.
    var recoveringSince: MonotonicInstant?
    /// When the first frame came after such a wait; those that waited behind it come right after it, one by one.
    var recoveredAt: MonotonicInstant?

    /// Places all frames again by their arrivals, if none has been given away.
    mutating func replaceHeld() {
      guard shift == nil, let first = queue.first else { return }
      line = .byArrivals(from: first.entry.arrival)
      for index in queue.indices { queue[index].position = line.offset(queue[index].entry) }
    }

    /// Places the last frames later, as far as they have not been given away.
    mutating func moveHeld(_ frames: Int, by distance: Duration) {
      for index in queue.indices.suffix(frames) { queue[index].position += distance }
    }

    /// How long the other track's frames wait for this one's.
    func patience(now: MonotonicInstant) -> Duration {
      if let recoveringSince, now - recoveringSince < RecordingTimeline.recoveryPatience {
        return RecordingTimeline.recoveryPatience
      }
      if let recoveredAt, now - recoveredAt < RecordingTimeline.patience { return RecordingTimeline.recoveryPatience }
      return RecordingTimeline.patience
    }

    /// Where its next frame lies, if its place is settled.
    func next(now: MonotonicInstant, everything: Bool) -> Duration? {
      guard let shift, let first = queue.first, everything || !line.isUndecided(now: now) else { return nil }
      return first.position + shift
    }
  }

  subscript(kind: MediaKind) -> Track {
    // One `yield` each: of two in branches Swift 6.3 has taken the wrong one, once the layout of a track was fixed.
    _read { yield tracks[kind == .audio ? 0 : 1] }
    _modify { yield &tracks[kind == .audio ? 0 : 1] }
  }

  var audio: Track {
    _read { yield tracks[0] }
    _modify { yield &tracks[0] }
  }

  var video: Track {
    _read { yield tracks[1] }
    _modify { yield &tracks[1] }
  }

  /// A track has its first frame.
  private mutating func begin(now: MonotonicInstant) {
    if holding != nil { return }
    let isFirst = !audio.line.hasStarted && !video.line.hasStarted
    holding = (now, now + (isFirst ? hold : min(hold, Self.lateHold)))
  }

  private var isReady: Bool {
    audio.line.hasStarted && video.line.hasStarted && reportedOffset != nil && !audio.line.isSuspicious
      && !video.line.isSuspicious
  }

  /// Ends a hold: gives every track that has frames its shift.
  private mutating func settle(now: MonotonicInstant) {
    holding = nil
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
    firstTracks = Set(MediaKind.allCases.filter { self[$0].shift != nil })
    originIsSettledAt = now + Self.originWindow
    for kind in MediaKind.allCases { refineOrigin(by: kind, now: now) }
  }

  private mutating func refineOrigin(by kind: MediaKind, now: MonotonicInstant) {
    guard let originIsSettledAt, now <= originIsSettledAt, let shift = self[kind].shift,
      let earliest = self[kind].line.delays.earliest
    else { return }
    let measured = earliest - shift
    origin = origin.map { min($0, measured) } ?? measured
  }

  // MARK: Giving

  /// The track whose next frame may come out.
  private func nextKind(now: MonotonicInstant, everything: Bool) -> MediaKind? {
    let firstAudio = audio.next(now: now, everything: everything)
    let firstVideo = video.next(now: now, everything: everything)
    let kind: MediaKind
    let position: Duration
    switch (firstAudio, firstVideo) {
    case (nil, nil): return nil
    case (let audio?, let video?): return video <= audio ? .video : .audio
    case (let audio?, nil): (kind, position) = (.audio, audio)
    case (nil, let video?): (kind, position) = (.video, video)
    }
    guard !everything, let received = self[kind].queue.first?.received else { return kind }
    let other = kind == .audio ? MediaKind.video : .audio
    if self[other].shift == nil { return holding.map { received < $0.since } ?? true ? kind : nil }
    return self[other].lastTimestamped >= position || now - received >= self[other].patience(now: now) ? kind : nil
  }

  private mutating func finalPosition(of held: Held, _ kind: MediaKind) -> Duration {
    if kind == .video { moveVideo(to: held.position) }
    let position = max(self[kind].lastTimestamped, held.position + (self[kind].shift ?? .zero))
    self[kind].lastLine = held.position
    self[kind].lastTimestamped = position
    return position
  }
}
