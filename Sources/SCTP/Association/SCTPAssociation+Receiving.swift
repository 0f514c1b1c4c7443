package import Media
package import NIOCore

extension SCTPAssociation {
  /// Handles a decrypted datagram. What cannot be used is counted in ``counters`` and has no other effect.
  package mutating func receive(_ datagram: ByteBuffer, now: MonotonicInstant) {
    counted.packetsReceived += 1
    let packet: SCTPPacket
    do {
      packet = try SCTPPacket(parsing: datagram)
    } catch {
      counted.malformedPackets += 1
      return
    }
    guard packet.destinationPort == options.localPort, packet.sourcePort == options.peerPort else {
      counted.wrongPorts += 1
      return
    }
    guard hasValidTag(packet) else {
      counted.wrongTags += 1
      return
    }
    if case .closed(let reason) = state {
      answerAfterClose(packet, reason: reason)
      return
    }
    var arrival = DataArrival()
    for chunk in packet.chunks {
      guard handle(chunk, tag: packet.verificationTag, arrival: &arrival, now: now) else { break }
      if case .closed = state { return }
    }
    if arrival.hasData {
      received.packetArrived(isUrgent: arrival.isUrgent || state == .shutdownSent, now: now)
      if state == .shutdownSent { sendShutdown(now: now) }
    }
  }

  /// What the DATA chunks of a packet mean for its acknowledgement.
  struct DataArrival {
    var hasData = false
    var isUrgent = false
    /// The SACK, SHUTDOWN, FORWARD TSN and RE-CONFIG chunks so far.
    var costlyChunks = 0
  }

  /// Whether a packet is meant for this association (RFC 9260, 8.5).
  private func hasValidTag(_ packet: SCTPPacket) -> Bool {
    let tag = packet.verificationTag
    for chunk in packet.chunks {
      if case .initiation = chunk { return tag == 0 && packet.chunks.count == 1 }
    }
    switch packet.chunks.first {
    case nil: return false
    case .abort(_, tagIsReflected: true), .shutdownComplete(tagIsReflected: true): return tag == peer?.tag
    // Its tag is compared with the one in the cookie.
    case .cookieEcho: return true
    default: return tag == localTag && state != .idle
    }
  }

  /// Handles one chunk; returns whether the rest of the packet is processed.
  private mutating func handle(
    _ chunk: SCTPChunk, tag: UInt32, arrival: inout DataArrival, now: MonotonicInstant
  ) -> Bool {
    switch chunk {
    case .initiation(let chunk): initReceived(chunk, now: now)
    case .initiationAck(let chunk): initAckReceived(chunk, now: now)
    case .cookieEcho(let cookie): return cookieEchoReceived(cookie, tag: tag, now: now)
    case .cookieAck: cookieAckReceived(now: now)
    case .abort(let causes, _):
      if state == .idle { counted.unexpectedChunks += 1 } else { close(.abortedByPeer(causes), now: now) }
    case .error(let causes): errorReceived(causes, now: now)
    case .unknown(let type, let flags, let body):
      return unknownReceived(type: type, flags: flags, body: body)
    default:
      guard isConnected else {
        counted.unexpectedChunks += 1
        return true
      }
      if chunk.isCostly { arrival.costlyChunks += 1 }
      guard !chunk.isCostly || arrival.costlyChunks <= SCTPLimits.maximumCostlyChunks else {
        counted.unexpectedChunks += 1
        return true
      }
      handleInConnection(chunk, arrival: &arrival, now: now)
    }
    return true
  }

  private mutating func handleInConnection(
    _ chunk: SCTPChunk, arrival: inout DataArrival, now: MonotonicInstant
  ) {
    switch chunk {
    case .data(let chunk): dataReceived(chunk, arrival: &arrival, now: now)
    case .selectiveAck(let chunk): ackReceived(chunk, now: now)
    case .heartbeat(let information): pend(.heartbeatAck(information))
    case .heartbeatAck(let information): heartbeatAcknowledged(information, now: now)
    case .shutdown(let tsn): shutdownReceived(cumulativeTSN: tsn, now: now)
    case .shutdownAck: shutdownAckReceived(now: now)
    case .shutdownComplete: if state == .shutdownAckSent { close(.shutDown, now: now) }
    case .forwardTSN(let chunk): forwardTSNReceived(chunk, arrival: &arrival, now: now)
    case .reconfiguration(let parameters): reconfigurationReceived(parameters, now: now)
    default: counted.unexpectedChunks += 1
    }
  }

  private mutating func errorReceived(_ causes: [ErrorCause], now: MonotonicInstant) {
    if causes.contains(where: { $0.code == .staleCookie }) { staleCookieReported(now: now) }
    if isConnected { emit(.errorReported(causes)) }
  }

  private mutating func unknownReceived(type: UInt8, flags: UInt8, body: ByteBuffer) -> Bool {
    counted.unknownChunks += 1
    let action = UnknownTypeAction(chunkType: type)
    if action.reports, isConnected {
      pend(.error([.unrecognizedChunk(type: type, flags: flags, body: body)]))
    }
    return !action.stops
  }

  /// Queues an event. Events other than messages have no size, so their number is limited; the last one always fits. Those
  /// that answer what this side has asked for are as many as it has asked.
  mutating func emit(_ event: SCTPEvent) {
    switch event {
    case .message(let message):
      counted.messagesReceived += 1
      eventBytes += Self.cost(of: message)
    case .messageTooLarge, .errorReported, .incomingStreamsReset:
      guard events.count < SCTPLimits.maximumEvents else {
        counted.answersDropped += 1
        return
      }
    case .restarted:
      // A peer can begin again and again while nobody takes the events: a second restart in a row says nothing new.
      if events.last == .restarted { return }
    case .connected, .outgoingStreamsReset, .streamResetRefused, .closed: break
    }
    events.append(event)
  }
}

// MARK: Data

extension SCTPAssociation {
  private mutating func dataReceived(_ chunk: DataChunk, arrival: inout DataArrival, now: MonotonicInstant) {
    guard state == .established || state == .shutdownPending || state == .shutdownSent else {
      counted.unexpectedChunks += 1
      return
    }
    guard chunk.payload.readableBytes > 0 else {
      abort(
        [.noUserData(tsn: chunk.tsn)], reason: .peerViolatedProtocol("a DATA chunk without user data"), now: now)
      return
    }
    arrival.hasData = true
    if chunk.wantsImmediateAck { arrival.isUrgent = true }
    let tsn = received.unwrap(chunk.tsn)
    switch received.classify(tsn) {
    case .duplicate:
      counted.duplicateChunks += 1
      received.addDuplicate(chunk.tsn)
    case .beyondLimit:
      counted.chunksBeyondWindow += 1
      arrival.isUrgent = true
    case .new:
      guard hasRoom(for: chunk, tsn: tsn, now: now) else {
        counted.chunksBeyondWindow += 1
        arrival.isUrgent = true
        return
      }
      accept(chunk, tsn: tsn, arrival: &arrival, now: now)
    }
  }

  private mutating func accept(
    _ chunk: DataChunk, tsn: Int64, arrival: inout DataArrival, now: MonotonicInstant
  ) {
    do {
      deliver(try reassembly.insert(chunk, tsn: tsn))
    } catch {
      let what = "a fragment that does not continue its message"
      abort([ErrorCause(.protocolViolation, text: what)], reason: .peerViolatedProtocol(what), now: now)
      return
    }
    // A filled gap is acknowledged at once.
    if received.hasGaps { arrival.isUrgent = true }
    received.insert(tsn)
    outOfOrderBytes = received.hasGaps ? outOfOrderBytes + (tsn > received.cumulativeTSN ? Self.cost(of: chunk) : 0) : 0
    checkDeferredReset()
  }

  /// Whether a chunk can be kept. The next one in order is preferred to others, because only it completes messages.
  private mutating func hasRoom(for chunk: DataChunk, tsn: Int64, now: MonotonicInstant) -> Bool {
    let cost = Self.cost(of: chunk)
    if tsn != received.cumulativeTSN + 1 {
      // Room is left for one message of the maximum size in order, or for what is there already.
      let inOrder = max(receiveMemory - outOfOrderBytes, min(options.window / 2, reassembly.maximumMessageBytes))
      let room = min((options.window - inOrder) * 3 / 4, options.window - receiveMemory + outOfOrderBytes)
      return outOfOrderBytes + cost <= room && reassembly.partialMessages < SCTPLimits.maximumPartialMessages
    }
    if receiveMemory + cost <= options.window { return true }
    // Without messages to take nothing will ever make room.
    if eventBytes == 0 {
      abort([ErrorCause(.outOfResource)], reason: .outOfMemory(limit: options.window), now: now)
    }
    return false
  }

  private static func cost(of chunk: DataChunk) -> Int { chunk.payload.readableBytes + SCTPLimits.entryOverhead }

  private mutating func deliver(_ deliveries: [ReassemblyQueue.Delivery]) {
    for delivery in deliveries {
      switch delivery {
      case .message(let message): emit(.message(message))
      case .tooLarge(let stream):
        counted.oversizedMessages += 1
        emit(.messageTooLarge(stream: stream))
      }
    }
  }

  private mutating func forwardTSNReceived(
    _ chunk: ForwardTSNChunk, arrival: inout DataArrival, now: MonotonicInstant
  ) {
    arrival.hasData = true
    arrival.isUrgent = true
    let tsn = received.unwrap(chunk.newCumulativeTSN)
    guard received.skip(to: tsn) else { return }
    if !received.hasGaps { outOfOrderBytes = 0 }
    deliver(reassembly.skip(to: tsn, chunk.skipped))
    checkDeferredReset()
  }
}

extension SCTPChunk {
  /// Whether its work depends on what the association keeps, and not only on its own length.
  fileprivate var isCostly: Bool {
    switch self {
    case .selectiveAck, .shutdown, .forwardTSN, .reconfiguration: true
    default: false
    }
  }
}
