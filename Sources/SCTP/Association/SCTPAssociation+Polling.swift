package import Media
package import NIOCore

extension SCTPAssociation {
  /// A time at or before which ``takePackets(now:)`` must be called; nil if only a call or a datagram causes work.
  package var deadline: MonotonicInstant? {
    // Chunks wait for the association, packets for nothing.
    if !pendingPackets.isEmpty || isConnected && !pendingChunks.isEmpty { return made }
    if case .closed = state { return nil }
    var earliest: MonotonicInstant?
    for time in [
      setupTimer.deadline, shutdownTimer.deadline, retransmissionTimer.deadline, heartbeat.deadline,
      resets.timer.deadline, received.ackDue, probe.deadline, outstanding.lossDeadline,
    ] {
      guard let time else { continue }
      earliest = earliest.map { min($0, time) } ?? time
    }
    return earliest
  }

  /// Acts on expired timers and returns the packets to send now, in order.
  package mutating func takePackets(now: MonotonicInstant) -> [ByteBuffer] {
    if closeReason == nil {
      checkTimers(now: now)
      prepareToSend(now: now)
      advanceShutdown(now: now)
      requestResets(now: now)
    }
    var packets = pendingPackets
    pendingPackets = []
    while closeReason == nil, let packet = nextPacket(now: now) {
      packets.append(packet)
    }
    counted.packetsSent += packets.count
    return packets
  }

  private mutating func checkTimers(now: MonotonicInstant) {
    checkSetupTimer(now: now)
    checkShutdownTimer(now: now)
    checkRetransmissionTimer(now: now)
    checkLossTimer(now: now)
    checkProbe(now: now)
    checkHeartbeat(now: now)
    checkResetTimer(now: now)
  }

  private mutating func nextPacket(now: MonotonicInstant) -> ByteBuffer? {
    guard isConnected, let peer else { return nil }
    var packet = builder(tag: peer.tag)
    outstanding.beginPacket()
    while let chunk = pendingChunks.first, packet.appendIfFits(chunk) { pendingChunks.removeFirst() }
    if packet.isEmpty, !pendingChunks.isEmpty {
      // It is larger than a packet: the peer sent more than we can return.
      pendingChunks.removeFirst()
      counted.answersDropped += 1
    }
    // An acknowledgement that is not due yet travels with data.
    appendAck(to: &packet, isForced: outstanding.lostCount > 0 || !sendQueue.isEmpty, now: now)
    appendForwardTSN(to: &packet, now: now)
    let count = packet.chunkCount
    appendData(to: &packet, now: now)
    fastRetransmissionDue = fastRetransmissionDue && packet.chunkCount == count
    return packet.isEmpty ? nil : packet.finish()
  }

  func builder(tag: UInt32) -> PacketBuilder {
    PacketBuilder(
      sourcePort: options.localPort, destinationPort: options.peerPort, verificationTag: tag,
      limit: options.maximumPacketBytes)
  }

  private mutating func appendAck(to packet: inout PacketBuilder, isForced: Bool, now: MonotonicInstant) {
    guard let due = received.ackDue, isForced || due <= now, packet.space >= 64 else { return }
    // A window that is too small for a packet is announced as closed, so that the peer probes it.
    announcedWindow = window < 2 * options.maximumPacketBytes ? 0 : window
    packet.append(.selectiveAck(received.takeAck(window: announcedWindow, space: packet.space)))
  }
}

// MARK: Control chunks

extension SCTPAssociation {
  /// Queues a chunk for the next packet. Beyond a limit it is dropped: the peer asks for more than it takes.
  mutating func pend(_ chunk: SCTPChunk) {
    guard pendingChunks.count < SCTPLimits.maximumPendingChunks else {
      counted.answersDropped += 1
      return
    }
    pendingChunks.append(chunk)
  }

  /// Queues a packet with one chunk and a tag of its own.
  mutating func sendAlone(_ chunk: SCTPChunk, tag: UInt32) {
    guard pendingPackets.count < SCTPLimits.maximumPendingPackets else {
      counted.answersDropped += 1
      return
    }
    var packet = builder(tag: tag)
    guard packet.appendIfFits(chunk) else {
      counted.answersDropped += 1
      return
    }
    pendingPackets.append(packet.finish())
  }

  /// A timeout: too many in a row end the association (RFC 9260, 8.1).
  mutating func countError(now: MonotonicInstant) {
    errorCount += 1
    if let limit = options.maximumRetransmissions, errorCount > limit {
      close(.unreachable(timeouts: errorCount), now: now)
    }
  }

  /// Ends the association and releases its memory. Queued packets are still sent.
  mutating func close(_ reason: SCTPCloseReason, now: MonotonicInstant) {
    guard closeReason == nil else { return }
    state = .closed(reason)
    setupTimer.stop()
    shutdownTimer.stop()
    resets.timer.stop()
    heartbeat.stop()
    retransmissionTimer.stop()
    probe.stop()
    pendingChunks = []
    counted = counters
    sendQueue.removeAll()
    outstanding = OutstandingData(nextTSN: outstanding.highestTSN + 1)
    reassembly = ReassemblyQueue(maximumMessageBytes: reassembly.maximumMessageBytes)
    emit(.closed(reason))
  }
}
