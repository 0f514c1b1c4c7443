import BotPeer
import CallCheck
import FaultInjection
import Load
import Logging
import Media
import RoomMessages
import Signalling
import SkyRTC
import Synchronization

/// Observes a call for the judge: passes its events on, samples its statistics, counts its faults and decides when it ends.
final class CheckObserver: CallObserver {
  private let judge: LiveJudge
  private let limits: Durations
  private let log: Logger
  private let faultCounts = Mutex(FaultCounts())
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
    /// The bounds of what waits for the judge.
    var queue = LiveJudge.QueueBounds()
  }

  /// The measurement of data channels; nil for none.
  private let probe: DataProbe?

  init(_ limits: Durations, probe: DataProbe? = nil, log: Logger, shown: @escaping @Sendable (CheckStatus) -> Void) {
    self.limits = limits
    self.probe = probe
    self.log = log
    self.shown = shown
    judge = LiveJudge(bounds: limits.queue) { peer in
      log.warning(
        "Decoding does not keep up; frames are skipped until the next keyframe.", metadata: ["user": "\(peer)"])
    }
  }

  /// Judges all events until ``end()`` is called.
  func judge(_ options: CallJudge.Options) async -> CheckReport {
    let report = await judge.judge(options)
    for sentence in report.limitations { log.warning("\(sentence)") }
    return report
  }

  /// Records that the call failed or ended early.
  func failed(_ sentence: String) { judge.failed(sentence) }

  /// How often the fault was injected, or nil if that is not counted.
  func injectionCount(of fault: Fault) -> UInt64? {
    if fault.isInjectedBySource { return nil }
    return faultCounts.withLock { counts in
      fault == .suddenLeave ? counts.endedCalls : counts.injections.values.reduce(counts.endedInjections, +)
    }
  }

  /// Ends the check; no events follow.
  func end() { judge.end() }

  // MARK: CallObserver

  func received(_ event: SignallingEvent, at now: ContinuousClock.Instant) { judge.received(event, at: now) }

  func received(_ event: PeerEvent, of participant: ParticipantID, at now: ContinuousClock.Instant) {
    if case .ended(let ending) = event {
      faultCounts.withLock { counts in
        if ending.cause == .closedByUs, !counts.isOver { counts.endedCalls += 1 }
        counts.endedInjections += counts.injections.removeValue(forKey: participant) ?? 0
      }
    }
    judge.received(event, of: participant, at: now)
  }

  func receive(_ event: MediaEvent, of participant: ParticipantID, now: ContinuousClock.Instant) {
    judge.receive(event, of: participant, now: now)
  }

  func sent(_ frame: EncodedFrame, at now: ContinuousClock.Instant) { judge.sent(frame, at: now) }

  func exchanged(_ message: ExchangedMessage, from sender: String, at now: ContinuousClock.Instant) {
    judge.exchanged(message.text.string, from: sender, name: message.name, with: message.user, at: now)
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
    judge.leaving(at: now)
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
      for participant in judge.wantedKeyframes { peer.requestKeyframe(of: participant) }
      guard let status = await judge.status() else { return }
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
      } else if wait.isOver(status, at: .now) {
        return
      }
    }
  }

  private func sample(_ peer: Peer, connected: (ParticipantID) -> Void) async {
    let now = ContinuousClock.now
    for statistics in await peer.statistics() {
      judge.sampled(statistics, at: now)
      faultCounts.withLock { $0.injections[statistics.participant] = statistics.faultsInjected }
      if statistics.state == .connected { connected(statistics.participant) }
      if let report = probe?.report(of: statistics.participant) {
        judge.sampled(report, of: statistics.participant, at: now)
      }
    }
  }
}
