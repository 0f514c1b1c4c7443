package import Media

/// The requests to reset streams, ours and the peer's (RFC 6525).
struct StreamResets: Sendable {
  struct Request: Sendable {
    let number: UInt32
    let lastTSN: UInt32
    let streams: [UInt16]
  }

  /// A reset by the peer that waits for chunks before it.
  struct Deferred: Sendable {
    let number: UInt32
    let lastTSN: Int64
    /// Nil for all streams.
    let streams: [UInt16]?
  }

  /// The number of our next request.
  var nextRequest: UInt32 = 0
  /// The number of the peer's next request.
  var expectedRequest: UInt32 = 0
  /// Our request that was not answered yet; there is at most one.
  var pending: Request?
  var timer = BackoffTimer()
  var deferred: Deferred?
  /// The answer to the peer's last request.
  var lastResult = ReconfigurationParameter.Result.nothingToDo
}

extension SCTPAssociation {
  /// Resets a stream towards the peer when its messages are sent; no more are accepted until the peer has answered, with
  /// ``SCTPEvent/outgoingStreamsReset(_:)`` or ``SCTPEvent/streamResetRefused(_:)``.
  package mutating func resetStream(_ stream: UInt16, now: MonotonicInstant) {
    guard closeReason == nil else { return }
    _ = sendQueue.wantReset(of: stream)
  }

  /// Sends the next request if none is pending.
  mutating func requestResets(now: MonotonicInstant) {
    guard sendsData, let peer, resets.pending == nil, sendQueue.hasResetsWanted else { return }
    let streams = sendQueue.takeResets()
    guard !streams.isEmpty else { return }
    guard peer.supportsReconfiguration else {
      finishReset(of: streams, isPerformed: false)
      return
    }
    resets.pending = .init(
      number: resets.nextRequest, lastTSN: UInt32(truncatingIfNeeded: outstanding.highestTSN), streams: streams)
    resets.nextRequest &+= 1
    resets.timer.start(timeout.current, now: now)
    sendResetRequest()
  }

  private mutating func sendResetRequest() {
    guard let request = resets.pending else { return }
    pend(
      .reconfiguration([
        .outgoingReset(
          request: request.number, response: resets.expectedRequest &- 1, lastTSN: request.lastTSN,
          streams: request.streams)
      ]))
  }

  mutating func checkResetTimer(now: MonotonicInstant) {
    guard resets.timer.expires(now: now) else { return }
    guard resets.pending != nil, sendsData else {
      resets.timer.stop()
      return
    }
    countError(now: now)
    sendResetRequest()
  }

  private mutating func finishReset(of streams: [UInt16], isPerformed: Bool) {
    sendQueue.resetAnswered(streams, isPerformed: isPerformed)
    emit(isPerformed ? .outgoingStreamsReset(streams) : .streamResetRefused(streams))
  }

  mutating func reconfigurationReceived(_ parameters: [ReconfigurationParameter], now: MonotonicInstant) {
    // RFC 6525, 4: at most two parameters.
    for parameter in parameters.prefix(2) {
      switch parameter {
      case .outgoingReset(let number, _, let lastTSN, let streams):
        answer(number) { association in
          association.perform(number, lastTSN: lastTSN, streams: streams.isEmpty ? nil : streams)
        }
      // Which of our streams end is for this side to decide.
      case .incomingReset(let number, _): answer(number) { _ in .denied }
      case .unsupportedRequest(_, let number, _): answer(number) { _ in .denied }
      case .response(let number, let result): resetAnswered(number, result, now: now)
      case .unknown: counted.unknownChunks += 1
      }
    }
  }

  /// Answers a request of the peer: a new one by `perform`, the last one again with the same result.
  private mutating func answer(
    _ number: UInt32, perform: (inout SCTPAssociation) -> ReconfigurationParameter.Result
  ) {
    var result = ReconfigurationParameter.Result.badSequenceNumber
    if number == resets.expectedRequest {
      resets.expectedRequest &+= 1
      resets.deferred = nil
      resets.lastResult = perform(&self)
      result = resets.lastResult
    } else if number == resets.expectedRequest &- 1 {
      result = resets.lastResult
    }
    pend(.reconfiguration([.response(to: number, result)]))
  }

  private mutating func perform(
    _ number: UInt32, lastTSN: UInt32, streams: [UInt16]?
  ) -> ReconfigurationParameter.Result {
    let last = received.unwrap(lastTSN)
    guard last <= received.cumulativeTSN else {
      resets.deferred = .init(
        number: number, lastTSN: last, streams: streams.map { Array($0.prefix(SCTPLimits.maximumStreams)) })
      return .inProgress
    }
    resetIncoming(streams)
    return .performed
  }

  private mutating func resetIncoming(_ streams: [UInt16]?) {
    let limited = streams.map { Array($0.prefix(SCTPLimits.maximumStreams)) }
    reassembly.reset(limited)
    emit(.incomingStreamsReset(limited))
  }

  /// Performs a reset of the peer for which chunks were missing, and answers it.
  mutating func checkDeferredReset() {
    guard let deferred = resets.deferred, deferred.lastTSN <= received.cumulativeTSN else { return }
    resets.deferred = nil
    resetIncoming(deferred.streams)
    resets.lastResult = .performed
    pend(.reconfiguration([.response(to: deferred.number, .performed)]))
  }

  private mutating func resetAnswered(
    _ number: UInt32, _ result: ReconfigurationParameter.Result, now: MonotonicInstant
  ) {
    guard let request = resets.pending, request.number == number else { return }
    errorCount = 0
    if result == .inProgress {
      resets.timer.start(timeout.current, now: now)
      return
    }
    resets.pending = nil
    resets.timer.stop()
    finishReset(of: request.streams, isPerformed: result == .performed || result == .nothingToDo)
  }
}
