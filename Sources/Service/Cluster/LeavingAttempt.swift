package import Media

/// The attempt of a job that another node has now: when its process ends. Events and the current time in, actions and a deadline
/// out. Pure.
package struct LeavingAttempt: Sendable, Hashable {
  package enum Cause: Sendable, Hashable {
    /// Another node took the job because it had heard nothing of this one.
    case superseded
    /// This node offered the job, and another one took it.
    case handedOver
  }

  package struct Limits: Sendable, Hashable {
    /// How long an attempt stays beside the one that it is handed over to, at most.
    package var overlap = Duration.seconds(20)
    /// A process that cannot be asked to stop gets SIGTERM after this time.
    package var terminateAfter = Duration.seconds(2)
    /// A process of a superseded attempt gets SIGABRT after this time, and SIGKILL `killAfter` later: 13 s in all.
    package var supersededWithin = Duration.seconds(10)
    /// A process that was handed over may finish its files.
    package var handedOverWithin = Duration.seconds(120)
    package var killAfter = Duration.seconds(3)

    package init() {}
  }

  package enum Event: Sendable, Hashable {
    case time
    case connected
    case disconnected
    /// The users who send video, by the status of the process.
    case sending(Set<String>)
    /// What is known of the successor.
    case successor(hasJoined: Bool, keyframes: Set<String>, isOver: Bool)
    case processDied
  }

  package enum Action: Sendable, Hashable {
    case sendStop
    case signal(EndingSignal)
    /// The process has ended: store what it has left.
    case store
  }

  package enum Phase: Sendable, Hashable {
    /// Records beside its successor.
    case overlapping(until: MonotonicInstant)
    case stopping(since: MonotonicInstant)
    case over
  }

  package let cause: Cause
  /// Whether the successor must have video of all who send some. Otherwise it only has to join.
  package let needsVideo: Bool
  package let limits: Limits
  package private(set) var phase: Phase
  private var isConnected = false
  private var isTerminated = false
  /// When the last signal that ends it was sent.
  private var killedAt: MonotonicInstant?
  /// Nil before the process has said it.
  private var sending: Set<String>?

  /// - Returns: the attempt and what to do first.
  package static func begin(
    _ cause: Cause, needsVideo: Bool, isConnected: Bool, limits: Limits = Limits(), at now: MonotonicInstant
  ) -> (attempt: LeavingAttempt, actions: [Action]) {
    var attempt = LeavingAttempt(cause, needsVideo, isConnected, limits, now)
    let actions = cause == .superseded ? attempt.stop(now) : []
    return (attempt, actions)
  }

  private init(
    _ cause: Cause, _ needsVideo: Bool, _ isConnected: Bool, _ limits: Limits, _ now: MonotonicInstant
  ) {
    self.cause = cause
    self.needsVideo = needsVideo
    self.isConnected = isConnected
    self.limits = limits
    phase = .overlapping(until: now + limits.overlap)
  }

  /// When ``receive(_:at:)`` must be called with ``Event/time``.
  package var deadline: MonotonicInstant? {
    switch phase {
    case .overlapping(let until): return until
    case .over: return nil
    case .stopping(let since):
      if let killedAt { return killedAt + limits.killAfter }
      let abort = since + within
      return !isConnected && !isTerminated ? min(abort, since + limits.terminateAfter) : abort
    }
  }

  private var within: Duration { cause == .superseded ? limits.supersededWithin : limits.handedOverWithin }

  package mutating func receive(_ event: Event, at now: MonotonicInstant) -> [Action] {
    if phase == .over { return [] }
    switch event {
    case .time: return timePassed(now)
    case .connected:
      guard !isConnected else { return [] }
      isConnected = true
      if case .stopping = phase { return [.sendStop] }
      return []
    case .disconnected:
      isConnected = false
      return []
    case .sending(let users):
      sending = users
      return []
    case .successor(let hasJoined, let keyframes, let isOver):
      guard case .overlapping = phase else { return [] }
      let isComplete = hasJoined && (!needsVideo || sending?.isSubset(of: keyframes) == true)
      return isOver || isComplete ? stop(now) : []
    case .processDied:
      phase = .over
      return [.store]
    }
  }

  private mutating func stop(_ now: MonotonicInstant) -> [Action] {
    phase = .stopping(since: now)
    return isConnected ? [.sendStop] : []
  }

  private mutating func timePassed(_ now: MonotonicInstant) -> [Action] {
    switch phase {
    case .overlapping(let until): return now >= until ? stop(now) : []
    case .over: return []
    case .stopping(let since):
      if let killedAt {
        guard now >= killedAt + limits.killAfter else { return [] }
        return send(.kill, now)
      }
      if now >= since + within { return send(.abort, now) }
      guard !isConnected, !isTerminated, now >= since + limits.terminateAfter else { return [] }
      isTerminated = true
      return [.signal(.terminate)]
    }
  }

  private mutating func send(_ signal: EndingSignal, _ now: MonotonicInstant) -> [Action] {
    killedAt = now
    return [.signal(signal)]
  }
}
