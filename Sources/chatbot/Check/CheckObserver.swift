import BotPeer
import CallCheck
import FaultInjection
import Logging
import Media
import Signalling
import SkyRTC
import Synchronization

/// Observes a call and feeds the judge, which runs on its own task so that the callers never wait.
final class CheckObserver: CallObserver {
  private let queue: Mutex<JudgeQueue>
  /// Yields when a job was added to the queue; ends when no more will be added.
  private let wakeup: AsyncStream<Void>
  private let wakeupSender: AsyncStream<Void>.Continuation
  private let limits: Durations
  private let log: Logger
  private let faultCounts = Mutex(FaultCounts())
  /// The participants who only receive: no peers of the call, but servers that we publish to.
  private let receivers = Mutex<Set<ParticipantID>>([])
  /// Peers whose frames are skipped and for whom no warning was logged yet: a caller must not wait for a log.
  private let late = Mutex<[ParticipantID]>([])
  /// Shows the present status; called periodically.
  private let shown: @Sendable (CheckStatus) -> Void

  /// How often the bot injected the fault.
  private struct FaultCounts {
    /// The last count of each peer, and that of the calls that have ended.
    var injections: [ParticipantID: UInt64] = [:]
    var endedInjections: UInt64 = 0
    /// The number of calls that we ended before the check was over. A fault that silences the bot ends the call, after
    /// which the peer's count is no longer sampled.
    var endedCalls: UInt64 = 0
    var isOver = false
  }

  /// How long a check waits for media, and how long it judges.
  struct Durations: Sendable {
    /// The maximum time until all expected media flows.
    var wait: Duration
    /// The time to judge from then on.
    var span: Duration
    /// The bounds of the judge's queue.
    var queue = JudgeQueue.Bounds()
  }

  /// The measurement of data channels; nil for none.
  private let probe: DataProbe?

  init(_ limits: Durations, probe: DataProbe? = nil, log: Logger, shown: @escaping @Sendable (CheckStatus) -> Void) {
    self.limits = limits
    self.probe = probe
    self.log = log
    self.shown = shown
    queue = Mutex(JudgeQueue(limits.queue))
    (wakeup, wakeupSender) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
  }

  /// Judges all jobs until ``end()`` is called.
  func judge(_ options: CallJudge.Options) async -> CheckReport {
    let judge = CallJudge(options)
    var end: ContinuousClock.Instant?
    func takeAll() {
      reportLate()
      while let job = queue.withLock({ $0.next() }) {
        switch job {
        case .status(let answer): answer.resume(returning: judge.status(at: end ?? .now))
        case .failed(let sentence): judge.failed(sentence)
        case .over(let now): end = end ?? now
        case .joined, .disconnected, .event, .sent: if end == nil { receive(job, judge) }
        }
      }
    }
    for await _ in wakeup { takeAll() }
    queue.withLock { $0.reportAllSkipped(now: .now) }
    takeAll()
    let report = judge.report(at: end ?? .now)
    for sentence in report.limitations { log.warning("\(sentence)") }
    return report
  }

  private func put(_ job: JudgeQueue.Job) {
    if case .event(_, let participant, _) = job, receivers.withLock({ $0.contains(participant) }) { return }
    if let peer = queue.withLock({ $0.add(job, now: .now) }) { late.withLock { $0.append(peer) } }
    wakeupSender.yield()
  }

  private func reportLate() {
    for peer in late.withLock({ peers in
      defer { peers = [] }
      return peers
    }) {
      log.warning(
        "Decoding does not keep up; frames are skipped until the next keyframe.", metadata: ["user": "\(peer)"])
    }
  }

  private func receive(_ job: JudgeQueue.Job, _ judge: CallJudge) {
    switch job {
    case .joined(let now): judge.joined(at: now)
    case .disconnected(let reason, let now): judge.disconnected(at: now, because: reason)
    case .event(let event, let peer, let now): judge.receive(event, of: peer, at: now)
    case .sent(let frame, let now): judge.sent(frame, at: now)
    case .failed, .status, .over: break
    }
  }

  /// Records that the call failed or ended early.
  func failed(_ sentence: String) { put(.failed(sentence)) }

  /// How often the fault was injected, or nil if that is not counted.
  func injectionCount(of fault: Fault) -> UInt64? {
    if fault.isInjectedBySource { return nil }
    return faultCounts.withLock { counts in
      fault == .suddenLeave ? counts.endedCalls : counts.injections.values.reduce(counts.endedInjections, +)
    }
  }

  /// Ends the queue; no jobs follow.
  func end() { wakeupSender.finish() }

  // MARK: CallObserver

  func received(_ event: SignallingEvent, at now: ContinuousClock.Instant) {
    func note(_ step: CallStep, _ id: ParticipantID) { put(.event(.step(step), id, now)) }
    switch event {
    case .joined(_, let others):
      put(.joined(now))
      for other in others { announced(other) }
      for other in others { note(.appeared, other.id) }
    case .participantJoined(let participant):
      announced(participant)
      note(.appeared, participant.id)
    case .message(.offer(let sdp), let id):
      note(.offerReceived, id)
      for kind in CandidateKind.all(in: sdp) { note(.remoteCandidate(kind), id) }
    case .message(.answer(let sdp), let id):
      note(.answerReceived, id)
      for kind in CandidateKind.all(in: sdp) { note(.remoteCandidate(kind), id) }
    case .message(.candidate(let trickled), let id):
      if !trickled.candidate.isEmpty { note(.remoteCandidate(CandidateKind(candidate: trickled.candidate)), id) }
    case .connectionLost(let reason, _):
      put(.disconnected(reason, now))
    case .participantLeft, .iceServers, .rejected, .closed:
      // A peer that lost only its connection to the server is still present as long as media arrives.
      break
    }
  }

  private func announced(_ participant: SignalledParticipant) {
    receivers.withLock { receivers in
      if participant.direction == .sendOnly {
        receivers.insert(participant.id)
      } else if !receivers.isEmpty {
        receivers.remove(participant.id)
      }
    }
  }

  func received(_ event: PeerEvent, of participant: ParticipantID, at now: ContinuousClock.Instant) {
    if case .ended(let ending) = event {
      faultCounts.withLock { counts in
        if ending.cause == .closedByUs, !counts.isOver { counts.endedCalls += 1 }
        counts.endedInjections += counts.injections.removeValue(forKey: participant) ?? 0
      }
    }
    for event in CheckEvent.all(of: event) { put(.event(event, participant, now)) }
  }

  func receive(_ event: MediaEvent, of participant: ParticipantID, now: ContinuousClock.Instant) {
    if let event = CheckEvent(event) { put(.event(event, participant, now)) }
  }

  func sent(_ frame: EncodedFrame, at now: ContinuousClock.Instant) {
    if frame.codec.kind == .video { put(.sent(frame, now)) }
  }

  func exchanged(_ message: ExchangedMessage, from sender: String, at now: ContinuousClock.Instant) {
    put(.event(.message(from: sender, name: message.name, text: message.text.string), message.user, now))
  }

  func leaving(at now: ContinuousClock.Instant, because ending: Call.EndReason) {
    switch ending {
    case .observerFinished: break
    case .interrupted: failed("The check was interrupted before it was complete.")
    case .fileEnded: failed("The input ended before the check was complete.")
    case .signallingEnded, .timeIsUp: failed("The call ended before the check was complete.")
    case .rejected(let reason): failed(reason)
    case .signallingClosed(let reason): failed("The call ended before the check was complete: \(reason)")
    case .notAdmitted(let reason): failed("The server refused the join: \(reason)")
    }
    faultCounts.withLock { $0.isOver = true }
    put(.over(now))
  }

  func watch(_ peer: Peer) async {
    await withTaskGroup(of: Void.self) { group in
      await watch(peer) { participant in
        guard let probe, probe.begin(with: participant) else { return }
        group.addTask { await probe.run(with: participant, of: peer) }
      }
      group.cancelAll()
    }
  }

  private func watch(_ peer: Peer, connected: (ParticipantID) -> Void) async {
    var next = ContinuousClock.now
    var wait = MediaWait(from: next, limit: limits.wait)
    var hasMedia = false
    while !Task.isCancelled {
      next += .milliseconds(hasMedia ? 1_000 : 200)
      guard (try? await MediaThread.loop.sleep(for: next - .now)) != nil else { return }
      await sample(peer, connected: connected)
      for participant in queue.withLock({ $0.wantedKeyframes(now: .now) }) { peer.requestKeyframe(of: participant) }
      let status = await withCheckedContinuation { put(.status($0)) }
      shown(status)
      if let elapsed = status.mediaElapsed {
        hasMedia = true
        // The last step is shortened to end exactly at the span.
        let left = limits.span - .seconds(elapsed)
        if left <= .zero { return }
        if left < .milliseconds(1_500) {
          try? await MediaThread.loop.sleep(for: left)
          return await sample(peer, connected: connected)
        }
      } else if wait.isOver(waitsOnlyForRefusedMedia: status.waitsOnlyForRefusedMedia, at: .now) {
        return
      }
    }
  }

  private func sample(_ peer: Peer, connected: (ParticipantID) -> Void) async {
    let now = ContinuousClock.now
    for statistics in await peer.statistics() {
      put(.event(.sample(ConnectionSample(statistics)), statistics.participant, now))
      faultCounts.withLock { $0.injections[statistics.participant] = statistics.faultsInjected }
      if statistics.state == .connected { connected(statistics.participant) }
      if let report = probe?.report(of: statistics.participant) {
        put(.event(.data(report), statistics.participant, now))
      }
    }
  }
}
