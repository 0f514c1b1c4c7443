import BotPeer
import CallCheck
import Logging
import Media
import Signalling
import SkyRTC
import Synchronization

/// Looks on in a call and has it judged, on a task of its own: anyone who says what happens is never kept waiting.
final class CheckObserver: CallObserver {
  private let queue: Mutex<JudgeQueue>
  /// Rings when something was put into the queue; ends when nothing more will be.
  private let wakeup: AsyncStream<Void>
  private let wakeupSender: AsyncStream<Void>.Continuation
  private let limits: Durations
  private let log: Logger
  private let acts = Mutex(Acts())
  /// Peers whose frames are skipped and of whom the log has not told yet: who tells what happens must not wait for a log.
  private let late = Mutex<[ParticipantID]>([])
  /// Told now and then how things stand.
  private let shown: @Sendable (CheckStatus) -> Void

  /// How the peers were misbehaved to.
  private struct Acts {
    /// How often to each, as it was last counted.
    var performed: [ParticipantID: UInt64] = [:]
    /// How many calls we ended before the check was over. Anyone who falls silent does, and is not counted any more.
    var silences: UInt64 = 0
    var isOver = false
  }

  /// How long a check waits, and how long it judges.
  struct Durations: Sendable {
    /// Until all that is expected flows.
    var wait: Duration
    /// From then on.
    var span: Duration
    /// What may wait for the judge.
    var queue = JudgeQueue.Bounds()
  }

  init(_ limits: Durations, log: Logger, shown: @escaping @Sendable (CheckStatus) -> Void) {
    self.limits = limits
    self.log = log
    self.shown = shown
    queue = Mutex(JudgeQueue(limits.queue))
    (wakeup, wakeupSender) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
  }

  /// Judges all that is told, until ``end()``.
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
    for sentence in report.shortcomings { log.warning("\(sentence)") }
    return report
  }

  private func put(_ job: JudgeQueue.Job) {
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

  /// The call could not be taken part in, or not to the end.
  func failed(_ sentence: String) { put(.failed(sentence)) }

  /// How often the peers were misbehaved to; nil where that is not counted.
  func timesPerformed(_ act: Fault) -> UInt64? {
    if act.isOfSource { return nil }
    return acts.withLock { act == .suddenLeave ? $0.silences : $0.performed.values.reduce(0, +) }
  }

  /// There is nothing more to come.
  func end() { wakeupSender.finish() }

  // MARK: CallObserver

  func heard(_ event: SignallingEvent, at now: ContinuousClock.Instant) {
    func note(_ step: CallStep, _ id: ParticipantID) { put(.event(.step(step), id, now)) }
    switch event {
    case .joined(_, let others):
      put(.joined(now))
      for other in others { note(.seen, other) }
    case .participantJoined(let id):
      note(.seen, id)
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
    case .participantLeft:
      // Whose way to the server alone broke is still there as long as media comes.
      break
    }
  }

  func happened(_ event: PeerEvent, with participant: ParticipantID, at now: ContinuousClock.Instant) {
    if case .ended(let ending) = event, ending.cause == .closedByUs {
      acts.withLock { if !$0.isOver { $0.silences += 1 } }
    }
    for event in CheckEvent.all(of: event) { put(.event(event, participant, now)) }
  }

  func sent(_ frame: EncodedFrame, at now: ContinuousClock.Instant) {
    if frame.codec == .vp8 { put(.sent(frame, now)) }
  }

  func leaving(at now: ContinuousClock.Instant, because ending: Call.EndReason) {
    switch ending {
    case .enoughSeen: break
    case .interrupted: failed("The check was interrupted before it had seen enough.")
    case .fileEnded: failed("What was played broke off before the check had seen enough.")
    case .signallingEnded, .timeIsUp: failed("The call ended before the check had seen enough.")
    case .notAdmitted(let reason): failed("The server did not let us in: \(reason)")
    }
    acts.withLock { $0.isOver = true }
    put(.over(now))
  }

  func watch(_ peer: Peer) async {
    let begin = ContinuousClock.now
    var next = begin
    var hasMedia = false
    while !Task.isCancelled {
      next += .milliseconds(hasMedia ? 1_000 : 200)
      guard (try? await MediaThread.loop.sleep(for: next - .now)) != nil else { return }
      await sample(peer)
      for participant in queue.withLock({ $0.wantedKeyframes(now: .now) }) { peer.requestKeyframe(of: participant) }
      let status = await withCheckedContinuation { put(.status($0)) }
      shown(status)
      if let elapsed = status.mediaElapsed {
        hasMedia = true
        // The last step is as long as it has to be.
        let left = limits.span - .seconds(elapsed)
        if left <= .zero { return }
        if left < .milliseconds(1_500) {
          try? await MediaThread.loop.sleep(for: left)
          return await sample(peer)
        }
      } else if ContinuousClock.now - begin >= limits.wait {
        return
      }
    }
  }

  private func sample(_ peer: Peer) async {
    let now = ContinuousClock.now
    for statistics in await peer.statistics() {
      put(.event(.sample(ConnectionSample(statistics)), statistics.participant, now))
      acts.withLock { $0.performed[statistics.participant] = statistics.faultsInjected }
    }
  }
}
