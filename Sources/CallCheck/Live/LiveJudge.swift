public import Media
public import PeerEngine
public import Signalling
import Synchronization

/// Judges a call while it lasts: takes events from any thread without waiting, and judges them on a task of its own.
///
/// Add it to `Peer.Configuration.mediaSinks`, pass on the events of the signalling client and of the peer, and sample the
/// peer's statistics once a second. Call ``leaving(at:)`` before the peer leaves, and ``end()`` afterwards: then ``judge(_:)``
/// returns the report.
///
/// What waits for the judge is bounded. When decoding does not keep up, video frames are skipped up to a keyframe, and the
/// report says so.
public final class LiveJudge: MediaSink {
  /// The maximum size and age of media that waits for the judge, of all peers together.
  public struct QueueBounds: Sendable {
    /// The payload in bytes.
    public var bytes = 64 << 20
    public var time = Duration.seconds(2)

    public init() {}

    package init(bytes: Int, time: Duration) {
      self.bytes = bytes
      self.time = time
    }
  }

  /// What waits, and whether nothing more is accepted.
  private struct Intake {
    var queue: JudgeQueue
    var isOver = false
  }

  private let intake: Mutex<Intake>
  /// Yields when a job was added to the queue; ends when no more will be added.
  private let wakeup: AsyncStream<Void>
  private let wakeupSender: AsyncStream<Void>.Continuation
  /// Peers whose frames are skipped and that were not reported yet: the threads that add events must not wait for a log.
  private let late = Mutex<[ParticipantID]>([])
  private let skipping: @Sendable (ParticipantID) -> Void

  /// - Parameter skipping: called on the judge's task when frames of a peer begin to be skipped because decoding does not
  ///   keep up.
  public init(bounds: QueueBounds = QueueBounds(), skipping: @escaping @Sendable (ParticipantID) -> Void = { _ in }) {
    self.skipping = skipping
    intake = Mutex(Intake(queue: JudgeQueue(bounds)))
    (wakeup, wakeupSender) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
  }

  /// Judges all events until ``end()`` is called. Call it once.
  ///
  /// - Returns: The report as of the time that ``leaving(at:)`` named, or of now.
  public func judge(_ options: CallJudge.Options) async -> CheckReport {
    let judge = CallJudge(options)
    var end: ContinuousClock.Instant?
    func takeAll() {
      for peer in late.withLock({ peers in
        defer { peers = [] }
        return peers
      }) { skipping(peer) }
      while let job = intake.withLock({ $0.queue.next() }) {
        switch job {
        case .status(let answer): answer.resume(returning: judge.status(at: end ?? .now))
        case .failed: judge.perform(job)
        case .over(let now): end = end ?? now
        case .joined, .announced, .disconnected, .event, .sent: if end == nil { judge.perform(job) }
        }
      }
    }
    for await _ in wakeup { takeAll() }
    // Also if the task was cancelled, nothing more is accepted, and nobody waits for an answer.
    intake.withLock { intake in
      intake.isOver = true
      intake.queue.reportAllSkipped(now: .now)
    }
    takeAll()
    return judge.report(at: end ?? .now)
  }

  /// - Returns: whether the job was accepted: not after the end.
  @discardableResult
  private func put(_ job: JudgeQueue.Job) -> Bool {
    let (isAccepted, skippedPeer) = intake.withLock { intake -> (Bool, ParticipantID?) in
      intake.isOver ? (false, nil) : (true, intake.queue.add(job, now: .now))
    }
    if let skippedPeer { late.withLock { $0.append(skippedPeer) } }
    if isAccepted { wakeupSender.yield() }
    return isAccepted
  }

  // MARK: Events

  /// Passes on an event of the signalling client.
  public func received(_ event: SignallingEvent, at now: ContinuousClock.Instant) {
    for job in JudgeQueue.Job.all(of: event, at: now) { put(job) }
  }

  /// Passes on an event of the connection to a peer. Media that goes to media sinks is not among these events.
  public func received(_ event: PeerEvent, of peer: ParticipantID, at now: ContinuousClock.Instant) {
    for event in CheckEvent.all(of: event) { put(.event(event, peer, now)) }
  }

  public func receive(_ event: MediaEvent, of participant: ParticipantID, now: ContinuousClock.Instant) {
    if let event = CheckEvent(event) { put(.event(event, participant, now)) }
  }

  /// Passes on the counters of the connection to a peer; called once a second and at the end.
  public func sampled(_ statistics: PeerStatistics, at now: ContinuousClock.Instant) {
    put(.event(.sample(ConnectionSample(statistics)), statistics.participant, now))
  }

  /// Passes on what a data channel to a peer has carried so far.
  package func sampled(_ data: DataReport, of peer: ParticipantID, at now: ContinuousClock.Instant) {
    put(.event(.data(data), peer, now))
  }

  /// Passes on a chat message that was received from a peer or sent to it.
  public func exchanged(
    _ text: String, from sender: String, name: String?, with peer: ParticipantID, at now: ContinuousClock.Instant
  ) {
    put(.event(.message(from: sender, name: name, text: text), peer, now))
  }

  /// Passes on a frame that was sent to all peers. If it shows the test pattern, frames that peers return are compared with
  /// it.
  public func sent(_ frame: EncodedFrame, at now: ContinuousClock.Instant) {
    if frame.codec.kind == .video { put(.sent(frame, now)) }
  }

  /// Records that the room was not joined, or that the check could not continue.
  ///
  /// - Parameter sentence: why.
  public func failed(_ sentence: String) { put(.failed(sentence)) }

  /// Records that the check is over: what follows is only our own leaving, and is not judged.
  public func leaving(at now: ContinuousClock.Instant) { put(.over(now)) }

  /// Ends the check: what follows is ignored.
  public func end() {
    intake.withLock { $0.isOver = true }
    wakeupSender.finish()
  }

  // MARK: State

  /// Returns the state of the check after all events so far; nil after its end. Waits until ``judge(_:)`` runs.
  public func status() async -> CheckStatus? {
    await withCheckedContinuation { answer in
      if !put(.status(answer)) { answer.resume(returning: nil) }
    }
  }

  /// The peers from which a keyframe must be requested, because frames of theirs were skipped and there is room again.
  public var wantedKeyframes: [ParticipantID] { intake.withLock { $0.queue.wantedKeyframes(now: .now) } }
}
