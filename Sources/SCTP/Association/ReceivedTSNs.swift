import Media

/// Which DATA chunks arrived, and when they must be acknowledged (RFC 9260, 6.2).
struct ReceivedTSNs: Sendable {
  enum Arrival: Sendable, Hashable {
    case new
    case duplicate
    /// Too far ahead of the cumulative TSN, or one gap too many.
    case beyondLimit
  }

  /// All chunks up to this one arrived or are skipped.
  private(set) var cumulativeTSN: Int64
  /// The number of ranges that were looked at or moved.
  private(set) var visits = 0
  /// The chunks above, in ascending ranges that do not touch each other.
  private var ranges: [ClosedRange<Int64>] = []
  private var duplicates: [UInt32] = []
  /// When the SACK must be sent; nil if all is acknowledged.
  private(set) var ackDue: MonotonicInstant?
  /// The packets with DATA that are not acknowledged.
  private var unacknowledgedPackets = 0

  /// - Parameter initialTSN: the TSN of the peer's first chunk.
  init(initialTSN: UInt32) {
    // An origin far above zero keeps all extended numbers positive.
    cumulativeTSN = (1 << 32) + Int64(initialTSN) - 1
  }

  /// Returns the TSN of the wire extended to the one nearest to the cumulative TSN.
  func unwrap(_ tsn: UInt32) -> Int64 {
    cumulativeTSN &+ Int64(Int32(bitPattern: tsn &- UInt32(truncatingIfNeeded: cumulativeTSN)))
  }

  var hasGaps: Bool { !ranges.isEmpty }

  /// Returns whether a chunk would be new, without recording it.
  func classify(_ tsn: Int64) -> Arrival {
    if tsn <= cumulativeTSN { return .duplicate }
    if tsn - cumulativeTSN > SCTPLimits.maximumTSNDistance { return .beyondLimit }
    let index = index(of: tsn)
    if index < ranges.count, ranges[index].lowerBound <= tsn { return .duplicate }
    let touches =
      index > 0 && ranges[index - 1].upperBound + 1 == tsn
      || index < ranges.count && ranges[index].lowerBound == tsn + 1
    if !touches, tsn != cumulativeTSN + 1, ranges.count >= SCTPLimits.maximumGaps { return .beyondLimit }
    return .new
  }

  /// Records a chunk that ``classify(_:)`` called new.
  mutating func insert(_ tsn: Int64) {
    if tsn == cumulativeTSN + 1 {
      cumulativeTSN = tsn
      joinFirstRange()
      return
    }
    let index = index(of: tsn)
    let joinsBefore = index > 0 && ranges[index - 1].upperBound + 1 == tsn
    let joinsAfter = index < ranges.count && ranges[index].lowerBound == tsn + 1
    if joinsBefore == joinsAfter { visits += ranges.count - index }
    switch (joinsBefore, joinsAfter) {
    case (true, true):
      ranges[index - 1] = ranges[index - 1].lowerBound...ranges[index].upperBound
      ranges.remove(at: index)
    case (true, false): ranges[index - 1] = ranges[index - 1].lowerBound...tsn
    case (false, true): ranges[index] = tsn...ranges[index].upperBound
    case (false, false): ranges.insert(tsn...tsn, at: index)
    }
  }

  mutating func addDuplicate(_ tsn: UInt32) {
    if duplicates.count < SCTPLimits.maximumReportedDuplicates { duplicates.append(tsn) }
  }

  /// Treats all chunks up to `tsn` as received; returns false if they already are.
  mutating func skip(to tsn: Int64) -> Bool {
    guard tsn > cumulativeTSN else { return false }
    cumulativeTSN = tsn
    visits += ranges.count
    ranges.removeFirst(ranges.prefix { $0.upperBound <= tsn }.count)
    if let first = ranges.first, first.lowerBound <= tsn + 1 {
      cumulativeTSN = first.upperBound
      ranges.removeFirst()
    }
    return true
  }

  private mutating func joinFirstRange() {
    guard let first = ranges.first, first.lowerBound == cumulativeTSN + 1 else { return }
    visits += ranges.count
    cumulativeTSN = first.upperBound
    ranges.removeFirst()
  }

  /// Returns the index of the first range that ends at or above `tsn`.
  private func index(of tsn: Int64) -> Int {
    // Most chunks are the newest.
    guard let last = ranges.last, last.upperBound >= tsn else { return ranges.count }
    var low = 0
    var high = ranges.count
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound < tsn { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

// MARK: Acknowledging

extension ReceivedTSNs {
  /// A packet with DATA arrived: every second is acknowledged at once, as is one that shows or fills a gap or contains a
  /// duplicate.
  mutating func packetArrived(isUrgent: Bool, now: MonotonicInstant) {
    unacknowledgedPackets += 1
    if isUrgent || hasGaps || !duplicates.isEmpty || unacknowledgedPackets >= 2 {
      ackDue = now
    } else if ackDue == nil {
      ackDue = now + SCTPTiming.acknowledgementDelay
    }
  }

  mutating func acknowledgeNow(_ now: MonotonicInstant) {
    ackDue = now
  }

  /// Returns the SACK of all that arrived; nothing needs to be acknowledged after it.
  ///
  /// - Parameter space: the maximum length of the chunk in bytes; gap blocks that do not fit are left out.
  mutating func takeAck(window: Int, space: Int) -> SelectiveAckChunk {
    let reported = min(duplicates.count, max(0, (space - 16) / 4))
    let blocks = min(SCTPLimits.maximumGapBlocks, max(0, (space - 16) / 4 - reported))
    let cumulative = cumulativeTSN
    let sack = SelectiveAckChunk(
      cumulativeTSN: UInt32(truncatingIfNeeded: cumulative), window: UInt32(clamping: window),
      gapBlocks: ranges.prefix(blocks).map {
        .init(start: UInt16(clamping: $0.lowerBound - cumulative), end: UInt16(clamping: $0.upperBound - cumulative))
      },
      duplicates: Array(duplicates.prefix(reported)))
    duplicates.removeAll(keepingCapacity: true)
    unacknowledgedPackets = 0
    ackDue = nil
    return sack
  }
}
