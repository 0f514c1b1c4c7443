import Media
import NIOCore

extension OutstandingData {
  /// The changes that a SACK causes.
  struct Acknowledgement: Sendable {
    var cumulativeAdvanced = false
    /// The payload bytes that were acknowledged for the first time.
    var bytes = 0
    /// The round-trip time of the newest chunk that was acknowledged and sent only once (Karn's algorithm).
    var roundTrip: Duration?
    fileprivate var minimumRoundTrip = Duration.zero
    /// Whether a retransmission arrived.
    fileprivate var hasRetransmission = false
    /// Whether a chunk is newly considered lost.
    var hasLoss = false
    /// Whether a probe arrived whose chunk had been lost.
    var isRepairedByProbe = false
    /// Whether a chunk arrived that was retransmitted needlessly.
    fileprivate var hasSpuriousRetransmission = false
    /// Messages that must be abandoned instead of being retransmitted.
    var expired: [OutgoingMessage.Reliability] = []
  }

  /// A chunk is lost if a packet arrived that was sent this many packets later.
  ///
  /// RFC 9260, 7.2.4 counts SACKs instead; but a peer that reads datagrams in batches sends one SACK for several packets.
  /// The distance between packets is that of QUIC (RFC 9002, 6.1.1), and it applies to retransmissions as well.
  private static var packetThreshold: Int64 { 3 }

  /// Applies a SACK; returns nil if it is older than another, or acknowledges what was never sent.
  ///
  /// - Parameter roundTrip: the smoothed round-trip time.
  mutating func acknowledge(
    _ sack: SelectiveAckChunk, roundTrip: Duration?, now: MonotonicInstant
  ) -> Acknowledgement? {
    let cumulative = unwrap(sack.cumulativeTSN)
    guard cumulative >= cumulativeTSN, cumulative <= highestTSN else { return nil }
    var result = Acknowledgement()
    // A retransmitted chunk that is acknowledged sooner arrived the first time.
    result.minimumRoundTrip = (roundTrip ?? .zero) / 2
    if cumulative > cumulativeTSN {
      result.cumulativeAdvanced = true
      visits += Int(cumulative - cumulativeTSN)
      for position in 0..<Int(cumulative - cumulativeTSN) { count(position, in: &result, now: now) }
      removeAll(upTo: cumulative)
    }
    if result.isRepairedByProbe, let probedTSN {
      // A duplicate means that the chunk had arrived before.
      if sack.duplicates.contains(UInt32(truncatingIfNeeded: probedTSN)) { result.isRepairedByProbe = false }
    }
    guard !entries.isEmpty else { return result }
    // The chunk after the cumulative TSN cannot be in a gap block: the peer has discarded what it had acknowledged.
    if entries.first?.state == .acknowledged {
      visits += entries.count
      for position in entries.indices where entries[position].state == .acknowledged {
        setState(.lost, at: position)
      }
    }
    applyGapBlocks(sack.gapBlocks, to: &result, now: now)
    if result.hasSpuriousRetransmission {
      reordering.spuriousRetransmission(cumulativeTSN: cumulativeTSN, highestTSN: highestTSN)
    }
    if !sack.gapBlocks.isEmpty || result.hasRetransmission {
      detectLosses(in: &result, roundTrip: roundTrip, now: now)
    }
    return result
  }

  /// Marks the chunks of gap blocks, which must be in order.
  private mutating func applyGapBlocks(
    _ blocks: [SelectiveAckChunk.GapBlock], to result: inout Acknowledgement, now: MonotonicInstant
  ) {
    var next = 1
    for block in blocks {
      // Blocks out of order are ignored, so the work is limited by the number of entries.
      guard block.start >= next, block.start > 1, block.end >= block.start, Int(block.end) <= entries.count else {
        break
      }
      for position in (Int(block.start) - 1)..<Int(block.end) {
        let state = entries[position].state
        guard state == .inFlight || state == .lost else { continue }
        count(position, in: &result, now: now)
        setState(.acknowledged, at: position)
      }
      next = Int(block.end) + 1
      visits += Int(block.end) - Int(block.start) + 1
    }
  }

  /// Finds chunks whose packets were overtaken by others, and by how many or for how long.
  mutating func detectLosses(in result: inout Acknowledgement, roundTrip: Duration?, now: MonotonicInstant) {
    let limit = reordering.hasReordering ? Int64.min : highestArrivedPacket - Self.packetThreshold
    let wait = roundTrip.map { reordering.wait(roundTrip: $0) }
    lossDeadline = nil
    visits += entries.count
    for position in entries.indices
    where entries[position].state == .inFlight && entries[position].packet < highestArrivedPacket {
      let deadline = wait.map { entries[position].sent + $0 }
      if entries[position].packet <= limit || deadline.map({ $0 <= now }) == true {
        loseOrExpire(position, in: &result.expired, now: now)
        result.hasLoss = true
      } else if let deadline {
        lossDeadline = lossDeadline.map { min($0, deadline) } ?? deadline
      }
    }
    if result.hasLoss { reordering.lossDetected() }
  }

  private mutating func count(_ position: Int, in result: inout Acknowledgement, now: MonotonicInstant) {
    let entry = entries[position]
    guard entry.state == .inFlight || entry.state == .lost else { return }
    result.bytes += entry.chunk.payload.readableBytes
    guard entry.state == .inFlight else { return }
    if entry.transmissions == 1 {
      result.roundTrip = now - entry.sent
    } else {
      guard now - entry.sent >= result.minimumRoundTrip else {
        result.hasSpuriousRetransmission = true
        return
      }
      result.hasRetransmission = true
      if cumulativeTSN + 1 + Int64(position) == probedTSN { result.isRepairedByProbe = true }
    }
    highestArrivedPacket = max(highestArrivedPacket, entry.packet)
  }

  /// Marks all chunks in flight as lost, because the retransmission timer expired; returns the messages to abandon.
  mutating func timedOut(now: MonotonicInstant) -> [OutgoingMessage.Reliability] {
    var expired: [OutgoingMessage.Reliability] = []
    lossDeadline = nil
    probedTSN = nil
    visits += entries.count
    for position in entries.indices where entries[position].state == .inFlight {
      loseOrExpire(position, in: &expired, now: now)
    }
    return expired
  }

  /// Returns the messages with lost chunks whose lifetime has ended.
  mutating func expiredMessages(now: MonotonicInstant) -> [OutgoingMessage.Reliability] {
    guard lostCount > 0 else { return [] }
    visits += entries.count
    var expired: [OutgoingMessage.Reliability] = []
    for position in entries.indices where entries[position].state == .lost {
      let reliability = entries[position].reliability
      if reliability.hasExpired(now: now), expired.last?.message != reliability.message { expired.append(reliability) }
    }
    return expired
  }

  private mutating func loseOrExpire(
    _ position: Int, in expired: inout [OutgoingMessage.Reliability], now: MonotonicInstant
  ) {
    let entry = entries[position]
    setState(.lost, at: position)
    let isExhausted = entry.reliability.maximumRetransmissions.map { entry.transmissions > $0 } ?? false
    guard isExhausted || entry.reliability.hasExpired(now: now) else { return }
    if expired.last?.message != entry.reliability.message { expired.append(entry.reliability) }
  }
}
