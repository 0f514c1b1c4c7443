package import Media
import NIOCore

/// The queue of jobs for the judge, in order, with bounded memory and delay.
///
/// Decoding frames takes time. When more frames wait than the bounds allow, the next frames of a stream are skipped, up to
/// a keyframe for which there is room, so that the judge never decodes an incomplete frame. A job with the number of
/// skipped frames replaces them. The bounds are those of all peers with all their streams. Audio is queued unless it exceeds
/// the stream's audio budget; streams that are not judged are not queued. All other jobs are small and need little time.
///
///     waiting ──(a frame arrives and the queue is full)──► skipping
///        ▲                                                        │
///        └──────(a keyframe arrives and the queue is half empty)──┘
package struct JudgeQueue: Sendable {
  /// A job for the judge.
  package enum Job: Sendable {
    case joined(ContinuousClock.Instant)
    /// A participant was announced; one who only receives is no peer of the check.
    case announced(ParticipantID, name: String?, onlyReceives: Bool)
    case disconnected(String, ContinuousClock.Instant)
    case event(CheckEvent, ParticipantID, ContinuousClock.Instant)
    case sent(EncodedFrame, ContinuousClock.Instant)
    case failed(String)
    case status(CheckedContinuation<CheckStatus?, Never>)
    /// What follows is only our leaving.
    case over(ContinuousClock.Instant)

    /// The size of the job's media.
    fileprivate var bytes: Int {
      switch self {
      case .event(.frame(let frame), _, _), .sent(let frame, _): frame.payload.readableBytes
      default: 0
      }
    }
  }

  private let bounds: LiveJudge.QueueBounds
  /// The queued jobs, and when each was added.
  private var queue = BoundedFrameQueue<(job: Job, added: ContinuousClock.Instant)>()
  /// The audio budget of each stream.
  private var audioStates: [TrackID: AudioState] = [:]

  private struct AudioState {
    var budget = AudioBudget()
    var last: MediaTime?
  }

  /// The maximum number of audio budgets; when it is exceeded, all are reset.
  private static let maximumAudio = 1_000
  /// The maximum cost of a gap in audio: after a longer one the search for the pattern starts again.
  private static let maximumGap = Duration.seconds(1)

  package init(_ bounds: LiveJudge.QueueBounds = .init()) {
    self.bounds = bounds
  }

  /// Adds a job, or counts it if it is a frame to skip.
  ///
  /// - Returns: The peer whose frames are skipped from this one on, or nil if nothing changed.
  package mutating func add(_ job: Job, now: ContinuousClock.Instant) -> ParticipantID? {
    if case .event(.frame(let frame), let peer, _) = job {
      guard (1...StreamReport.maximumCount).contains(frame.stream) else { return nil }
      let track = TrackID(of: peer, stream: frame.stream, kind: frame.codec.kind)
      if track.kind == .video { return add(videoFrame: frame, of: track, job, now: now) }
      guard hasTime(for: frame, of: track) else { return nil }
    }
    if case .over = job { reportAllSkipped(now: now) }
    put(job, now: now)
    return nil
  }

  /// Whether the track's budget allows an audio packet. Decoding it takes time in proportion to its duration, and
  /// searching it for the pattern in proportion to the gap before it.
  private mutating func hasTime(for frame: EncodedFrame, of track: TrackID) -> Bool {
    if audioStates.count >= Self.maximumAudio { audioStates.removeAll() }
    var audio = audioStates[track, default: AudioState()]
    defer { audioStates[track] = audio }
    let length = frame.header.audio?.duration ?? .microseconds(2_500)
    let step = audio.last.map { min(frame.time.duration(since: $0), Self.maximumGap) } ?? .zero
    guard audio.budget.take(max(step, length), arrival: frame.arrived) else {
      return false
    }
    audio.last = frame.time
    return true
  }

  private mutating func add(
    videoFrame: EncodedFrame, of track: TrackID, _ job: Job, now: ContinuousClock.Instant
  ) -> ParticipantID? {
    let capacity: FrameDropper.Capacity =
      hasRoom(share: 2, now: now) ? .ample : hasRoom(share: 1, now: now) ? .low : .full
    switch queue.dropper.admit(videoFrame, of: track, capacity: { capacity }) {
    case .admitted(let dropped):
      if let dropped { put(dropped, of: track, now: now) }
      put(job, now: now)
      return nil
    case .dropped(let dropped):
      return dropped.count == 1 ? track.participant : nil
    }
  }

  /// Whether at most the given share of the bounds is in use: a half for 2, a third for 3.
  private func hasRoom(share: Int, now: ContinuousClock.Instant) -> Bool {
    let age = queue.first.map { now - $0.added } ?? .zero
    return queue.bytes <= bounds.bytes / share && age <= bounds.time / share
  }

  private mutating func put(_ job: Job, now: ContinuousClock.Instant) {
    queue.append((job, now), bytes: job.bytes)
  }

  private mutating func put(_ dropped: DroppedFrameRun, of track: TrackID, now: ContinuousClock.Instant) {
    guard let videoFrames = SkippedFrames(dropped, ofStream: track.stream) else { return }
    put(.event(.skipped(videoFrames), track.participant, now), now: now)
  }

  /// Queues the counts of all skipped frames, because no more frames follow.
  package mutating func reportAllSkipped(now: ContinuousClock.Instant) {
    let inOrder = queue.dropper.takeAll().sorted {
      ($0.key.participant.text, $0.key.stream) < ($1.key.participant.text, $1.key.stream)
    }
    for (track, dropped) in inOrder { put(dropped, of: track, now: now) }
  }

  /// Removes and returns the next job, or nil if none waits.
  package mutating func next() -> Job? { queue.popFirst()?.element.job }

  /// The size of the queued media.
  package var bytes: Int { queue.bytes }

  /// The peers from which a keyframe is needed to decode their frames again, if there is room for it.
  package func wantedKeyframes(now: ContinuousClock.Instant) -> [ParticipantID] {
    hasRoom(share: 2, now: now) ? Set(queue.dropper.tracks.map(\.participant)).sorted() : []
  }
}
