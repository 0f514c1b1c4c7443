public import BotPeer
public import CallCheck
internal import Load
public import Logging
public import Media
public import NIOCore
public import Signalling
internal import Synchronization

/// Observes a call for the judge: passes its events on, samples its statistics, counts its faults and decides when it ends.
///
/// ```swift
/// let observer = CheckObserver(.init(wait: .seconds(30), span: .seconds(20)), on: loop)
/// async let report = observer.judge(CallJudge.Options(start: .now, room: "100"))
/// let call = try await RoomCall(settings, client: client, source: source, observer: observer, on: loop)
/// try await call.join()
/// _ = await call.run()
/// observer.end()
/// print(await report.verdict)
/// ```
///
/// The settings of the call say that it does not end with its source.
public final class CheckObserver: RoomCallObserver {
  private let judge: LiveJudge
  private let limits: Durations
  /// Runs the timers.
  private let loop: any EventLoop
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
  public struct Durations: Sendable {
    /// The maximum time until all expected media flows.
    public var wait: Duration
    /// The time to judge from then on.
    public var span: Duration
    /// The bounds of what waits for the judge.
    public var queue = LiveJudge.QueueBounds()

    public init(wait: Duration, span: Duration) {
      self.wait = wait
      self.span = span
    }
  }

  /// The measurement of data channels; nil for none.
  private let probe: DataProbe?

  /// - Parameters:
  ///   - limits: how long it lasts.
  ///   - dataBitrate: the payload in bits per second of messages to each peer on a data channel, which must come back; nil for none.
  ///   - loop: the event loop of timers.
  ///   - log: logs at `warning` when decoding does not keep up.
  ///   - shown: called periodically with the present status.
  public init(
    _ limits: Durations, dataBitrate: Int? = nil, on loop: any EventLoop, log: Logger = Logger(label: "check"),
    shown: @escaping @Sendable (CheckStatus) -> Void = { _ in }
  ) {
    self.limits = limits
    self.loop = loop
    probe = dataBitrate.map { DataProbe(bitrate: $0, on: loop) }
    self.log = log
    self.shown = shown
    judge = LiveJudge(bounds: limits.queue) { peer in
      log.warning(
        "Decoding does not keep up; frames are skipped until the next keyframe.", metadata: ["user": "\(peer)"])
    }
  }

  /// Judges all events until ``end()`` is called.
  public func judge(_ options: CallJudge.Options) async -> CheckReport {
    await judge.judge(options)
  }

  /// Records that the call failed or ended early.
  public func failed(_ sentence: String) { judge.failed(sentence) }

  /// How often connections injected their fault.
  public var injectionCount: UInt64 {
    faultCounts.withLock { $0.injections.values.reduce($0.endedInjections, +) }
  }

  /// The number of connections that we ended before the check was over, as a fault may do.
  public var endedCallCount: UInt64 { faultCounts.withLock { $0.endedCalls } }

  /// Ends the check; no events follow.
  public func end() { judge.end() }

  // MARK: RoomCallObserver

  public func received(_ event: SignallingEvent, at now: ContinuousClock.Instant) { judge.received(event, at: now) }

  public func received(_ event: PeerEvent, of participant: ParticipantID, at now: ContinuousClock.Instant) {
    if case .ended(let ending) = event {
      faultCounts.withLock { counts in
        if ending.cause == .closedByUs, !counts.isOver { counts.endedCalls += 1 }
        counts.endedInjections += counts.injections.removeValue(forKey: participant) ?? 0
      }
    }
    judge.received(event, of: participant, at: now)
  }

  public func receive(_ event: MediaEvent, of participant: ParticipantID, now: ContinuousClock.Instant) {
    judge.receive(event, of: participant, now: now)
  }

  public func sent(_ frame: EncodedFrame, at now: ContinuousClock.Instant) { judge.sent(frame, at: now) }

  public func exchanged(_ message: RoomCall.ChatMessage, at now: ContinuousClock.Instant) {
    judge.exchanged(message.text, from: message.sender, name: message.name, with: message.user, at: now)
  }

  public func leaving(at now: ContinuousClock.Instant, because reason: RoomCall.EndReason) {
    switch reason {
    case .observerFinished: break
    case .left: failed("The check was interrupted before it was complete.")
    case .sourceEnded: failed("The input ended before the check was complete.")
    case .signallingEnded, .timeIsUp, .roomEmpty, .nobodyCame: failed("The call ended before the check was complete.")
    case .rejected(let reason): failed(reason)
    case .signallingClosed(let reason): failed("The call ended before the check was complete: \(reason)")
    case .notAdmitted(let reason): failed("The server refused the join: \(reason)")
    }
    faultCounts.withLock { $0.isOver = true }
    judge.leaving(at: now)
  }

  public func watch(_ peer: Peer) async -> String? {
    await withTaskGroup(of: Void.self) { group in
      await watch(peer) { participant in
        guard let probe, probe.begin(with: participant) else { return }
        group.addTask { await probe.run(with: participant, of: peer) }
      }
      group.cancelAll()
    }
    return "the check has ended"
  }

  private func watch(_ peer: Peer, connected: (ParticipantID) -> Void) async {
    var next = ContinuousClock.now
    var wait = MediaWait(from: next, limit: limits.wait)
    var hasMedia = false
    while !Task.isCancelled {
      next += .milliseconds(hasMedia ? 1_000 : 200)
      guard (try? await loop.sleep(for: next - .now)) != nil else { return }
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
          try? await loop.sleep(for: left)
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
      faultCounts.withLock { $0.injections[statistics.participant] = statistics.interventions }
      if statistics.state == .connected { connected(statistics.participant) }
      if let report = probe?.report(of: statistics.participant) {
        judge.sampled(report, of: statistics.participant, at: now)
      }
    }
  }
}
