import Bitstream
import CallCheck
import Codecs
import Media
import NIOCore

/// What waits for the judge, in order, and no more of it than this machine can bear.
///
/// Frames take time to decode. When more wait than the bounds allow, those of a peer that come then are skipped, up to the next
/// keyframe that finds room again, so that a broken frame is never looked at; how many is told in their place. Audio waits its turn
/// unless it is more than there was time for. Everything else is small and taken in no time.
///
///     waiting ──(its frame comes and the queue is full)──► leaving out
///        ▲                                                        │
///        └──────(its keyframe comes and the queue is half empty)──┘
struct JudgeQueue {
  /// Something for the judge.
  enum Job: Sendable {
    case joined(ContinuousClock.Instant)
    case disconnected(String, ContinuousClock.Instant)
    case event(CheckEvent, ParticipantID, ContinuousClock.Instant)
    case sent(EncodedFrame, ContinuousClock.Instant)
    case failed(String)
    case status(CheckedContinuation<CheckStatus, Never>)
    /// What follows is only our leaving.
    case over(ContinuousClock.Instant)

    /// What it holds of media.
    fileprivate var bytes: Int {
      switch self {
      case .event(.frame(let frame), _, _), .sent(let frame, _): frame.payload.readableBytes
      default: 0
      }
    }
  }

  /// How much may wait, and how long.
  struct Bounds: Sendable {
    var bytes = 64 << 20
    var time = Duration.seconds(2)
  }

  private let bounds: Bounds
  /// What waits, and when each was added.
  private var queue = BoundedFrameQueue<(job: Job, added: ContinuousClock.Instant)>()
  /// What of each peer's audio there was time for.
  private var audioChunks: [ParticipantID: AudioSamples] = [:]

  private struct AudioSamples {
    var budget = AudioBudget()
    var last: MediaTime?
  }

  /// How many peers' audio is remembered; when there are more, all of it is forgotten.
  private static let maximumAudio = 1_000
  /// A longer hole in audio costs at most this: the search for the pattern starts again after it.
  private static let maximumHole = Duration.seconds(1)

  init(_ bounds: Bounds = Bounds()) {
    self.bounds = bounds
  }

  /// Adds a job, or counts it where it is a frame to be skipped.
  ///
  /// - Returns: the peer whose frames are skipped from this one on; nil when nothing new is to be told.
  mutating func add(_ job: Job, now: ContinuousClock.Instant) -> ParticipantID? {
    if case .event(.frame(let frame), let peer, _) = job, frame.codec == .vp8 {
      return add(videoFrame: frame, of: peer, job, now: now)
    }
    if case .event(.frame(let frame), let peer, _) = job, !hasTime(for: frame, of: peer) { return nil }
    if case .over = job { reportAllSkipped(now: now) }
    put(job, now: now)
    return nil
  }

  /// Whether there was time for an audio packet. To decode it takes time by its length, and to search it for the pattern by that
  /// of the hole before it.
  private mutating func hasTime(for frame: EncodedFrame, of peer: ParticipantID) -> Bool {
    if audioChunks.count >= Self.maximumAudio { audioChunks.removeAll() }
    var audio = audioChunks[peer, default: AudioSamples()]
    defer { audioChunks[peer] = audio }
    let ticks = frame.opus?.duration ?? 120
    let step = audio.last.map { min(frame.time.duration(since: $0), Self.maximumHole) } ?? .zero
    guard audio.budget.take(max(step, .microseconds(ticks * 1_000 / 48)), arrival: frame.arrived) else {
      return false
    }
    audio.last = frame.time
    return true
  }

  private mutating func add(
    videoFrame: EncodedFrame, of peer: ParticipantID, _ job: Job, now: ContinuousClock.Instant
  ) -> ParticipantID? {
    let room: FrameDropper.Room = hasRoom(share: 2, now: now) ? .ample : hasRoom(share: 1, now: now) ? .some : .none
    switch queue.dropper.admit(videoFrame, of: .init(peer, .video), room: { room }) {
    case .admitted(let dropped):
      if let dropped { put(dropped, of: peer, now: now) }
      put(job, now: now)
      return nil
    case .dropped(let dropped):
      return dropped.count == 1 ? peer : nil
    }
  }

  /// Whether not more than the bounds' half, third … waits.
  private func hasRoom(share: Int, now: ContinuousClock.Instant) -> Bool {
    let age = queue.first.map { now - $0.added } ?? .zero
    return queue.bytes <= bounds.bytes / share && age <= bounds.time / share
  }

  private mutating func put(_ job: Job, now: ContinuousClock.Instant) {
    queue.append((job, now), bytes: job.bytes)
  }

  private mutating func put(_ dropped: DroppedFrameRun, of peer: ParticipantID, now: ContinuousClock.Instant) {
    guard let videoFrames = SkippedFrames(dropped) else { return }
    put(.event(.leftOut(videoFrames), peer, now), now: now)
  }

  /// There is nothing more to come: what was skipped until now is told.
  mutating func reportAllSkipped(now: ContinuousClock.Instant) {
    for (track, dropped) in queue.dropper.takeAll().sorted(by: { $0.key.owner.text < $1.key.owner.text }) {
      put(dropped, of: track.owner, now: now)
    }
  }

  /// The next job; nil when none waits.
  mutating func next() -> Job? { queue.popFirst()?.element.job }

  /// Bytes of media that wait.
  var bytes: Int { queue.bytes }

  /// Peers that have to send a keyframe for their frames to be looked at again, now that there is room for them.
  func wantedKeyframes(now: ContinuousClock.Instant) -> [ParticipantID] {
    hasRoom(share: 2, now: now) ? queue.dropper.tracks.map(\.owner).sorted { $0.text < $1.text } : []
  }
}
