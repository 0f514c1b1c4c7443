/// Congestion control on the one path (RFC 9260, 7.2): slow start, congestion avoidance, fast recovery.
struct CongestionWindow: Sendable {
  /// cwnd and ssthresh in bytes.
  private(set) var size: Int
  private(set) var slowStartThreshold = SCTPLimits.maximumCongestionWindow
  /// The TSN whose acknowledgement ends fast recovery; nil outside of it.
  private(set) var recoveryExit: Int64?
  private var partialBytesAcked = 0
  private let packetBytes: Int

  /// - Parameter packetBytes: the maximum length of a packet (PMTU).
  init(packetBytes: Int) {
    self.packetBytes = packetBytes
    // RFC 9260, 7.2.1 allows about 4,404 bytes. Ten packets, as in RFC 6928 and dcSCTP, save a round trip or two.
    size = 10 * packetBytes
  }

  /// RFC 9260, 7.2.1 also counts a window equal to the threshold. That is the window after each loss, and a single SACK
  /// of a whole window would double it again.
  var isInSlowStart: Bool { size < slowStartThreshold }

  /// Whether so few packets are in flight that each acknowledgement counts.
  var isSmall: Bool { size <= 4 * packetBytes }

  /// A SACK acknowledged something.
  ///
  /// - Parameters:
  ///   - bytes: the newly acknowledged bytes, those in gap blocks included.
  ///   - hasAdvanced: whether the cumulative TSN is higher than before.
  ///   - isFull: whether the window was used completely before.
  mutating func acknowledged(_ bytes: Int, cumulativeTSN: Int64, hasAdvanced: Bool, isFull: Bool) {
    if let exit = recoveryExit {
      guard cumulativeTSN >= exit else { return }
      recoveryExit = nil
      return
    }
    if isInSlowStart {
      // RFC 9260 adds at most one packet for each SACK. A peer that reads datagrams in batches sends few SACKs, so all
      // acknowledged bytes count, as in QUIC (RFC 9002, 7.3.1), but only up to the threshold.
      if isFull, hasAdvanced { size = min(size + bytes, slowStartThreshold) }
    } else {
      partialBytesAcked += bytes
      if partialBytesAcked >= size {
        partialBytesAcked = isFull ? min(partialBytesAcked - size, size) : size
        if isFull { size += packetBytes }
      }
    }
    size = min(size, SCTPLimits.maximumCongestionWindow)
  }

  /// SACKs show that chunks are lost (RFC 9260, 7.2.4).
  mutating func lossDetected(highestTSN: Int64) {
    guard recoveryExit == nil else { return }
    recoveryExit = highestTSN
    slowStartThreshold = max(size / 2, 4 * packetBytes)
    size = slowStartThreshold
    partialBytesAcked = 0
  }

  /// The retransmission timer expired (RFC 9260, 7.2.3).
  mutating func timedOut() {
    slowStartThreshold = max(size / 2, 4 * packetBytes)
    size = packetBytes
    partialBytesAcked = 0
    recoveryExit = nil
  }

  /// Nothing is outstanding any more.
  mutating func drained() {
    partialBytesAcked = 0
    recoveryExit = nil
  }

  /// Nothing was sent for an RTO: the path may have changed (RFC 9260, 7.2.1).
  mutating func idled() {
    size = max(size / 2, min(size, 4 * packetBytes))
  }
}
