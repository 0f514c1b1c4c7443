package import Media
import NIOCore

extension SCTPAssociation {
  /// Ends the association when all messages are delivered; no more are accepted (RFC 9260, 9.2).
  package mutating func shutdown(now: MonotonicInstant) {
    switch state {
    case .established: state = .shutdownPending
    case .idle, .cookieWait: close(.shutDown, now: now)
    case .cookieEchoed: abort(now: now)
    case .shutdownPending, .shutdownSent, .shutdownReceived, .shutdownAckSent, .closed: break
    }
  }

  /// Ends the association at once; what was not delivered is lost (RFC 9260, 9.1).
  package mutating func abort(_ text: String = "", now: MonotonicInstant) {
    abort([ErrorCause(.userInitiatedAbort, text: text)], reason: .abortedLocally, now: now)
  }

  /// - Parameter tag: the peer's tag if it is not known otherwise.
  mutating func abort(
    _ causes: [ErrorCause], tag: UInt32? = nil, reason: SCTPCloseReason, now: MonotonicInstant
  ) {
    guard closeReason == nil else { return }
    if let tag = tag ?? peer?.tag { sendAlone(.abort(causes, tagIsReflected: false), tag: tag) }
    close(reason, now: now)
  }

  /// Continues a shutdown when nothing is left to be acknowledged.
  mutating func advanceShutdown(now: MonotonicInstant) {
    guard sendQueue.isEmpty, outstanding.isEmpty else { return }
    switch state {
    case .shutdownPending:
      state = .shutdownSent
      sendShutdown(now: now)
    case .shutdownReceived:
      state = .shutdownAckSent
      sendShutdownAck(now: now)
    default: break
    }
  }

  mutating func sendShutdown(now: MonotonicInstant) {
    pend(.shutdown(cumulativeTSN: UInt32(truncatingIfNeeded: received.cumulativeTSN)))
    shutdownTimer.start(timeout.current, now: now)
  }

  private mutating func sendShutdownAck(now: MonotonicInstant) {
    pend(.shutdownAck)
    shutdownTimer.start(timeout.current, now: now)
  }

  mutating func shutdownReceived(cumulativeTSN: UInt32, now: MonotonicInstant) {
    ackReceived(SelectiveAckChunk(cumulativeTSN: cumulativeTSN, window: UInt32(clamping: peerWindow)), now: now)
    switch state {
    case .established, .shutdownPending: state = .shutdownReceived
    case .shutdownSent:
      state = .shutdownAckSent
      sendShutdownAck(now: now)
    case .shutdownAckSent: pend(.shutdownAck)
    case .idle, .cookieWait, .cookieEchoed, .shutdownReceived, .closed: break
    }
  }

  mutating func shutdownAckReceived(now: MonotonicInstant) {
    guard state == .shutdownSent || state == .shutdownAckSent, let peer else {
      counted.unexpectedChunks += 1
      return
    }
    sendAlone(.shutdownComplete(tagIsReflected: false), tag: peer.tag)
    close(.shutDown, now: now)
  }

  mutating func checkShutdownTimer(now: MonotonicInstant) {
    guard shutdownTimer.expires(now: now) else { return }
    countError(now: now)
    switch state {
    case .shutdownSent: pend(.shutdown(cumulativeTSN: UInt32(truncatingIfNeeded: received.cumulativeTSN)))
    case .shutdownAckSent: pend(.shutdownAck)
    default: shutdownTimer.stop()
    }
  }

  /// The SHUTDOWN COMPLETE may have been lost: a further SHUTDOWN ACK is answered, and nothing else.
  mutating func answerAfterClose(_ packet: SCTPPacket, reason: SCTPCloseReason) {
    guard reason == .shutDown, packet.chunks.contains(.shutdownAck), let peer else {
      counted.unexpectedChunks += 1
      return
    }
    sendAlone(.shutdownComplete(tagIsReflected: false), tag: peer.tag)
  }
}
