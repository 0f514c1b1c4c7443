package import Media
package import NIOCore

extension SCTPAssociation {
  /// Queues a message, also before the association is set up.
  package mutating func send(
    _ payload: ByteBuffer, stream: UInt16, protocolID: UInt32, options sendOptions: SCTPSendOptions = .init(),
    now: MonotonicInstant
  ) throws(SCTPSendError) {
    switch state {
    case .idle, .cookieWait, .cookieEchoed, .established: break
    case .shutdownPending, .shutdownSent, .shutdownReceived, .shutdownAckSent, .closed: throw .closed
    }
    guard payload.readableBytes > 0 else { throw .empty }
    let limit = options.peerMaximumMessageBytes
    guard limit == 0 || payload.readableBytes <= limit else {
      throw .tooLarge(bytes: payload.readableBytes, limit: limit)
    }
    let streams = Int(peer?.incomingStreams ?? .max)
    guard Int(stream) < streams else { throw .invalidStream(stream, streams: streams) }
    var sendOptions = sendOptions
    if let peer, !peer.supportsForwardTSN {
      sendOptions.lifetime = nil
      sendOptions.maximumRetransmissions = nil
    }
    try sendQueue.append(
      payload, stream: stream, protocolID: protocolID, options: sendOptions, limit: options.sendBufferBytes, now: now)
    counted.messagesSent += 1
  }

  var maximumPayload: Int { (options.maximumPacketBytes - SCTPPacket.headerLength - DataChunk.headerLength) & ~3 }

  var sendsData: Bool {
    switch state {
    case .established, .shutdownPending, .shutdownReceived: true
    case .idle, .cookieWait, .cookieEchoed, .shutdownSent, .shutdownAckSent, .closed: false
    }
  }

  /// Adds lost chunks, then new ones, to a packet.
  mutating func appendData(to packet: inout PacketBuilder, now: MonotonicInstant) {
    guard sendsData, packetsUntilAck != 0 || probe.isDue else { return }
    let count = packet.chunkCount
    while let chunk = nextChunk(space: packet.space - DataChunk.headerLength, now: now) { packet.append(chunk) }
    guard packet.chunkCount > count else { return }
    counted.chunksSent += packet.chunkCount - count
    lastDataSent = now
    if let left = packetsUntilAck { packetsUntilAck = max(0, left - 1) }
    startRetransmissionTimer(now: now)
    scheduleProbe(now: now)
  }

  private mutating func nextChunk(space: Int, now: MonotonicInstant) -> DataChunk? {
    guard space > 0 else { return nil }
    if probe.isDue { return nextProbe(space: space, now: now) }
    guard packetsUntilAck != 0 else { return nil }
    let flight = outstanding.flightBytes
    if outstanding.lostCount > 0 {
      // The first packet of a fast retransmission ignores the window; a closed peer gets one chunk at a time.
      let isAllowed = flight < congestion.size || fastRetransmissionDue
      guard isAllowed, peerWindow > 0 || flight == 0 else { return nil }
      return outstanding.retransmit(space: space, now: now)
    }
    guard flight < congestion.size else { return nil }
    return newChunk(space: space, now: now)
  }

  /// Takes a chunk from the queue if the peer's window has room for it.
  mutating func newChunk(space: Int, now: MonotonicInstant) -> DataChunk? {
    guard outstanding.count < SCTPLimits.maximumOutstandingChunks else { return nil }
    let flight = outstanding.flightBytes
    // With nothing in flight one chunk probes a closed window (RFC 9260, 6.1).
    let room = flight == 0 ? maximumPayload : peerWindow - flight
    guard room > 0, room >= min(maximumPayload, sendQueue.bytes) else { return nil }
    guard let next = sendQueue.next(space: space & ~3, fullSpace: maximumPayload, now: now) else { return nil }
    let chunk = outstanding.send(next.chunk, reliability: next.reliability, now: now)
    // The peer need not wait for more (RFC 7053, 4): nothing follows, or only after the acknowledgement.
    let isLast = sendQueue.isEmpty || outstanding.flightBytes >= congestion.size && congestion.isSmall
    return isLast ? outstanding.requestAck() : chunk
  }

  /// Handles a SACK (RFC 9260, 6.2.1, 6.3.2 and 7.2).
  mutating func ackReceived(_ sack: SelectiveAckChunk, now: MonotonicInstant) {
    let former = outstanding.cumulativeTSN
    guard outstanding.unwrap(sack.cumulativeTSN) >= former else { return }
    let isFull = outstanding.flightBytes + options.maximumPacketBytes > congestion.size
    guard let result = outstanding.acknowledge(sack, roundTrip: timeout.smoothed, now: now) else {
      counted.invalidAcks += 1
      return
    }
    packetsUntilAck = nil
    probe.reset()
    let wasClosed = peerWindow == 0
    peerWindow = Int(sack.window)
    if let roundTrip = result.roundTrip { timeout.measured(roundTrip) }
    // A peer with a closed window is alive, although it acknowledges nothing new.
    if result.bytes > 0 || result.cumulativeAdvanced || peerWindow < maximumPayload { errorCount = 0 }
    if result.bytes > 0 || result.cumulativeAdvanced {
      congestion.acknowledged(
        result.bytes, cumulativeTSN: outstanding.cumulativeTSN, hasAdvanced: result.cumulativeAdvanced, isFull: isFull)
    }
    handleLosses(result, now: now)
    var expired = result.expired
    if wasClosed, peerWindow > 0, !result.cumulativeAdvanced {
      // The probe was dropped for want of room; it need not wait for the timer.
      expired += outstanding.timedOut(now: now)
    }
    abandon(expired, now: now)
    if outstanding.isEmpty {
      retransmissionTimer.stop()
      congestion.drained()
    } else if result.cumulativeAdvanced || retransmissionTimer.deadline == nil {
      retransmissionTimer.start(timeout.current, now: now)
    } else if result.bytes > 0 {
      retransmissionTimer.endBackoff(timeout.current, now: now)
    }
    scheduleProbe(now: now)
  }

  /// Reduces the window once for the losses of a round trip (RFC 9260, 7.2.4), also for those that a probe repaired.
  mutating func handleLosses(_ result: OutstandingData.Acknowledgement, now: MonotonicInstant) {
    if result.hasLoss {
      counted.fastRetransmissions += 1
      if congestion.recoveryExit == nil { fastRetransmissionDue = true }
    }
    if result.hasLoss || result.isRepairedByProbe {
      congestion.lossDetected(highestTSN: outstanding.highestTSN)
    }
  }

  /// Gives up messages, with the part that was not sent.
  mutating func abandon(_ messages: [OutgoingMessage.Reliability], now: MonotonicInstant) {
    guard !messages.isEmpty else { return }
    var last: (DataChunk, OutgoingMessage.Reliability)?
    for message in messages {
      if let chunk = sendQueue.discardRest(of: message.message) { last = (chunk, message) }
    }
    outstanding.abandon(messages, last: last, now: now)
  }

  /// T3-rtx expired (RFC 9260, 6.3.3).
  mutating func checkRetransmissionTimer(now: MonotonicInstant) {
    guard retransmissionTimer.expires(now: now) else { return }
    counted.retransmissionTimeouts += 1
    congestion.timedOut()
    // One packet, and the rest only when it is acknowledged (RFC 9260, 6.3.3).
    packetsUntilAck = 1
    probe.reset()
    abandon(outstanding.timedOut(now: now), now: now)
    lastSkip = nil
    countError(now: now)
  }

  /// Prepares for sending: gives up messages whose lifetime ended, and a window from before a pause.
  mutating func prepareToSend(now: MonotonicInstant) {
    guard sendsData else { return }
    abandon(outstanding.expiredMessages(now: now), now: now)
    if outstanding.isEmpty, !sendQueue.isEmpty, let last = lastDataSent, now - last > timeout.current {
      congestion.idled()
      lastDataSent = now
    }
  }

  /// Adds a FORWARD TSN if the first outstanding chunks are abandoned and that was not said since the last timeout.
  mutating func appendForwardTSN(to packet: inout PacketBuilder, now: MonotonicInstant) {
    guard isConnected, outstanding.isFirstAbandoned, let skip = outstanding.skip(), skip.newCumulativeTSN != lastSkip
    else { return }
    guard packet.appendIfFits(.forwardTSN(skip)) else { return }
    lastSkip = skip.newCumulativeTSN
    startRetransmissionTimer(now: now)
    scheduleProbe(now: now)
  }

  private mutating func startRetransmissionTimer(now: MonotonicInstant) {
    if retransmissionTimer.deadline == nil { retransmissionTimer.start(timeout.current, now: now) }
  }
}
