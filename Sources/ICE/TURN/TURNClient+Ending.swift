package import Media

/// Failures, losses and the end of an allocation, and the pause before the next attempt.
extension TURNClient {
  /// Ends the allocation. The caller sends what the next poll returns, may poll until `ended`, and closes the socket.
  package mutating func leave(now: MonotonicInstant) {
    switch state {
    case .ended, .leaving: return
    case .paused: end(now: now)
    case .allocating:
      // An allocation that is granted nevertheless is ended at once.
      state = .leaving
    case .allocated:
      transactions = [:]
      lease = nil
      state = .leaving
      requestEnd(.leave, now: now)
    }
    scheduleAdvance(now: now)
  }

  /// The connection to the server has ended or could not be opened. Only for streams.
  ///
  /// - Parameter problem: what is wrong with its TLS, a clause; nil if nothing is known to be.
  package mutating func closed(because problem: String? = nil, now: MonotonicInstant) {
    guard transport == .stream else { return }
    interrupted(loss: .connectionClosed, failure: problem.map { .tlsFailed($0) } ?? .connectionClosed, now: now)
  }

  mutating func interrupted(loss: TURNLoss, failure: TURNFailure, now: MonotonicInstant) {
    splitter = TURNStreamSplitter()
    switch state {
    case .paused, .ended: return
    case .leaving: end(now: now)
    case .allocating: fail(failure, now: now)
    case .allocated: lose(loss, now: now)
    }
  }

  mutating func fail(_ failure: TURNFailure, now: MonotonicInstant) {
    transactions = [:]
    if state == .leaving {
      end(now: now)
      return
    }
    if failure != lastFailure { emit(.failed(failure), now: now) }
    lastFailure = failure
    if failure.isPermanent {
      state = .ended
    } else {
      var limit = TURNTiming.maximumPause
      switch failure {
      case .noAnswer, .connectionClosed, .tlsFailed, .brokenStream:
        if let lostAt, now - lostAt < TURNTiming.returnWindow { limit = TURNTiming.maximumReturnPause }
      default: break
      }
      pauseAttempts(limit: limit, now: now)
    }
  }

  mutating func lose(_ loss: TURNLoss, now: MonotonicInstant) {
    if let lease, now - lease.since >= TURNTiming.stableAllocation { pause = TURNTiming.firstPause }
    lease = nil
    transactions = [:]
    lastFailure = nil
    lostAt = now
    forgetBindings(now: now)
    emit(.lost(loss), now: now)
    pauseAttempts(limit: TURNTiming.maximumReturnPause, now: now)
  }

  private mutating func pauseAttempts(limit: Duration, now: MonotonicInstant) {
    // Clients that lost the same server do not return at the same time.
    let part = Int.random(in: 75...100, using: &generator)
    state = .paused(until: now + min(pause, limit) * part / 100)
    pause = min(pause * 2, TURNTiming.maximumPause)
    if transport == .stream { needsConnection = true }
    scheduleAdvance(now: now)
  }

  mutating func end(now: MonotonicInstant) {
    guard state != .ended else { return }
    state = .ended
    transactions = [:]
    lease = nil
    emit(.ended, now: now)
    scheduleAdvance(now: now)
  }
}
