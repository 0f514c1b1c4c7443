import BotPeer
import CallCheck
import Media
import SkyRTC
import Synchronization

/// Looks on in a call and has it judged, on a task of its own: whoever tells what happens is never kept waiting.
final class CheckDesk: CallObserver {
  /// Something for the judge, in the order in which it is to be taken.
  private enum Job: Sendable {
    case joined(ContinuousClock.Instant)
    case event(CheckEvent, ParticipantID, ContinuousClock.Instant)
    case sent(EncodedFrame, ContinuousClock.Instant)
    case failed(String)
    case status(CheckedContinuation<CheckStatus, Never>)
    /// What follows is only our leaving.
    case over(ContinuousClock.Instant)
  }

  private let jobs: AsyncStream<Job>
  private let inbox: AsyncStream<Job>.Continuation
  private let limits: Limits
  /// How often each peer was misbehaved to, as it was last counted.
  private let acts = Mutex<[ParticipantID: UInt64]>([:])
  /// Told now and then how things stand.
  private let shown: @Sendable (CheckStatus) -> Void

  /// How long a check waits, and how long it judges.
  struct Limits: Sendable {
    /// Until all that is expected flows.
    var wait: Duration
    /// From then on.
    var span: Duration
  }

  init(_ limits: Limits, shown: @escaping @Sendable (CheckStatus) -> Void) {
    self.limits = limits
    self.shown = shown
    (jobs, inbox) = AsyncStream.makeStream(of: Job.self)
  }

  /// Judges all that is told, until ``end()``.
  func judge(_ options: CallJudge.Options) async -> CheckReport {
    let judge = CallJudge(options)
    var end: ContinuousClock.Instant?
    for await job in jobs {
      switch job {
      case .status(let answer): answer.resume(returning: judge.status(at: end ?? .now))
      case .failed(let sentence): judge.failed(sentence)
      case .over(let now): end = end ?? now
      case .joined, .event, .sent: if end == nil { take(job, judge) }
      }
    }
    return judge.report(at: end ?? .now)
  }

  private func take(_ job: Job, _ judge: CallJudge) {
    switch job {
    case .joined(let now): judge.joined(at: now)
    case .event(let event, let peer, let now): judge.take(event, of: peer, at: now)
    case .sent(let frame, let now): judge.sent(frame, at: now)
    case .failed, .status, .over: break
    }
  }

  /// The call could not be taken part in, or not to the end.
  func failed(_ sentence: String) { inbox.yield(.failed(sentence)) }

  /// How often the peers were misbehaved to.
  var actsPerformed: UInt64 { acts.withLock { $0.values.reduce(0, +) } }

  /// There is nothing more to come.
  func end() { inbox.finish() }

  // MARK: CallObserver

  func heard(_ event: SkyRTCClient.Event, at now: ContinuousClock.Instant) {
    func note(_ step: CallStep, _ id: String) { inbox.yield(.event(.step(step), ParticipantID(id), now)) }
    switch event {
    case .joined(_, let others):
      inbox.yield(.joined(now))
      for other in others { note(.seen, other) }
    case .participantJoined(let id):
      note(.seen, id)
    case .offer(let id, let sdp):
      note(.offerReceived, id)
      for kind in CandidateKind.all(in: sdp) { note(.remoteCandidate(kind), id) }
    case .answer(let id, let sdp):
      note(.answerReceived, id)
      for kind in CandidateKind.all(in: sdp) { note(.remoteCandidate(kind), id) }
    case .candidate(let id, let candidate, _, _):
      if !candidate.isEmpty { note(.remoteCandidate(CandidateKind(candidate: candidate)), id) }
    case .participantLeft, .disconnected:
      // Whose way to the server alone broke is still there as long as media comes.
      break
    }
  }

  func happened(_ event: PeerEvent, with participant: ParticipantID, at now: ContinuousClock.Instant) {
    for event in CheckEvent.all(of: event) { inbox.yield(.event(event, participant, now)) }
  }

  func sent(_ frame: EncodedFrame, at now: ContinuousClock.Instant) {
    if frame.codec == .vp8 { inbox.yield(.sent(frame, now)) }
  }

  func leaving(at now: ContinuousClock.Instant, because ending: Call.Ending) {
    if case .interrupted = ending { failed("The check was interrupted before it had seen enough.") }
    inbox.yield(.over(now))
  }

  func watch(_ peer: BotPeer) async {
    let begin = ContinuousClock.now
    var next = begin
    var hasMedia = false
    while !Task.isCancelled {
      next += .milliseconds(hasMedia ? 1_000 : 200)
      guard (try? await Task.sleep(until: next, tolerance: .zero)) != nil else { return }
      await sample(peer)
      let status = await withCheckedContinuation { inbox.yield(.status($0)) }
      shown(status)
      if let elapsed = status.mediaElapsed {
        hasMedia = true
        // The last step is as long as it has to be.
        let left = limits.span - .seconds(elapsed)
        if left <= .zero { return }
        if left < .milliseconds(1_500) {
          try? await Task.sleep(for: left, tolerance: .zero)
          return await sample(peer)
        }
      } else if ContinuousClock.now - begin >= limits.wait {
        return
      }
    }
  }

  private func sample(_ peer: BotPeer) async {
    let now = ContinuousClock.now
    for statistics in await peer.statistics() {
      inbox.yield(.event(.sample(ConnectionSample(statistics)), statistics.participant, now))
      acts.withLock { $0[statistics.participant] = statistics.actsPerformed }
    }
  }
}
