import Media

/// The tail loss probe (RFC 8985, 7): the newest chunk is sent again when no acknowledgement arrives for two round
/// trips, at most once until the next SACK or timeout.
///
/// Its acknowledgement shows which chunks before it are lost, long before T3-rtx expires. With the probe there are at most
/// two packets for each timeout, as many as QUIC allows (RFC 9002, 6.2.4).
struct TailProbe: Sendable {
  private(set) var deadline: MonotonicInstant?
  /// Whether one must be sent with the next packet.
  private(set) var isDue = false
  private var isSent = false

  /// Chunks were sent, or some are still in flight after a SACK.
  mutating func schedule(_ timeout: Duration?, now: MonotonicInstant) {
    guard let timeout, !isSent, !isDue else { return }
    deadline = now + timeout
  }

  mutating func stop() {
    deadline = nil
    isDue = false
  }

  /// A SACK arrived, or T3-rtx expired.
  mutating func reset() {
    isSent = false
    stop()
  }

  /// Returns whether the time has come.
  mutating func expires(now: MonotonicInstant) -> Bool {
    guard let deadline, deadline <= now else { return false }
    self.deadline = nil
    isDue = true
    return true
  }

  mutating func sent() {
    isDue = false
    isSent = true
  }
}

extension SCTPAssociation {
  /// Plans a probe if chunks, or a FORWARD TSN, wait for their acknowledgement.
  mutating func scheduleProbe(now: MonotonicInstant) {
    guard peerWindow > 0, outstanding.flightBytes > 0 || outstanding.isFirstAbandoned else {
      probe.stop()
      return
    }
    probe.schedule(timeout.probe, now: now)
  }

  mutating func checkProbe(now: MonotonicInstant) {
    guard probe.expires(now: now) else { return }
    guard sendsData, peerWindow > 0, !outstanding.isEmpty else {
      probe.stop()
      return
    }
    counted.tailLossProbes += 1
    if outstanding.isFirstAbandoned { lastSkip = nil }
    if outstanding.flightBytes == 0 { probe.sent() }
  }

  /// Returns the chunk of a probe: a lost one, else the newest in flight, else a new one. The congestion window does
  /// not stop it (RFC 8985, 7.3). Nil if the chunk does not fit into the packet, or if there is none.
  mutating func nextProbe(space: Int, now: MonotonicInstant) -> DataChunk? {
    if outstanding.lostCount > 0 {
      guard let chunk = outstanding.retransmit(space: space, now: now) else { return nil }
      probe.sent()
      return chunk
    }
    if let position = outstanding.probePosition(now: now) {
      guard let chunk = outstanding.probe(at: position, space: space, now: now) else { return nil }
      probe.sent()
      return chunk
    }
    probe.sent()
    return newChunk(space: space, now: now)
  }

  /// Chunks were overtaken by others for so long that they are lost.
  mutating func checkLossTimer(now: MonotonicInstant) {
    guard let deadline = outstanding.lossDeadline, deadline <= now else { return }
    var result = OutstandingData.Acknowledgement()
    outstanding.detectLosses(in: &result, roundTrip: timeout.smoothed, now: now)
    handleLosses(result, now: now)
    abandon(result.expired, now: now)
  }
}
