import Media
import NIOCore

/// The sent chunks that are not acknowledged cumulatively, in order of TSN without gaps.
struct OutstandingData: Sendable {
  enum State: Sendable {
    case inFlight
    /// In a gap block of a SACK.
    case acknowledged
    case lost
    /// Never transmitted again; the peer skips it by a FORWARD TSN.
    case abandoned
  }

  struct Entry: Sendable {
    var chunk: DataChunk
    let reliability: OutgoingMessage.Reliability
    var state = State.inFlight
    var sent: MonotonicInstant
    var transmissions = 1
    /// The number of the packet in which it was sent last.
    var packet: Int64
  }

  private(set) var entries = SlidingQueue<Entry>()
  /// The TSN of the first entry minus one: all chunks up to it are acknowledged or skipped.
  private(set) var cumulativeTSN: Int64
  /// The payload bytes in flight.
  private(set) var flightBytes = 0
  /// No chunk below this position is lost.
  private var lostHint = 0
  private(set) var lostCount = 0
  /// The number of retransmitted chunks, and of abandoned messages.
  private(set) var retransmissions = 0
  /// The TSN of the last probe that was not acknowledged.
  var probedTSN: Int64?
  /// When the next chunk is lost if no acknowledgement arrives until then; nil if no packet has overtaken one.
  var lossDeadline: MonotonicInstant?
  var reordering = ReorderingWindow()
  /// The number of entries that were looked at.
  var visits = 0
  /// The number of the packet that is being made.
  private(set) var packet: Int64 = 0
  /// The highest number of a packet that arrived.
  var highestArrivedPacket: Int64 = 0
  private(set) var abandonedMessages = 0

  /// - Parameter nextTSN: the TSN of the first chunk.
  init(nextTSN: Int64) {
    cumulativeTSN = nextTSN - 1
  }

  var isEmpty: Bool { entries.isEmpty }
  var count: Int { entries.count }
  var highestTSN: Int64 { cumulativeTSN + Int64(entries.count) }

  /// Returns the TSN of the wire extended to the one nearest to the cumulative TSN.
  func unwrap(_ tsn: UInt32) -> Int64 {
    cumulativeTSN &+ Int64(Int32(bitPattern: tsn &- UInt32(truncatingIfNeeded: cumulativeTSN)))
  }

  /// The chunks sent from now on are in another packet.
  mutating func beginPacket() {
    packet += 1
  }

  /// Adds a new chunk and returns it with its TSN.
  mutating func send(
    _ chunk: DataChunk, reliability: OutgoingMessage.Reliability, now: MonotonicInstant
  ) -> DataChunk {
    var chunk = chunk
    let tsn = highestTSN + 1
    chunk.tsn = UInt32(truncatingIfNeeded: tsn)
    entries.append(Entry(chunk: chunk, reliability: reliability, sent: now, packet: packet))
    flightBytes += chunk.payload.readableBytes
    return chunk
  }

  /// Returns the first lost chunk of at most `space` payload bytes, which is now in flight again.
  mutating func retransmit(space: Int, now: MonotonicInstant) -> DataChunk? {
    guard lostCount > 0 else { return nil }
    while lostHint < entries.count {
      guard entries[lostHint].state == .lost else {
        lostHint += 1
        continue
      }
      guard entries[lostHint].chunk.payload.readableBytes <= space else { return nil }
      return transmitAgain(lostHint, now: now)
    }
    return nil
  }

  private mutating func transmitAgain(_ position: Int, now: MonotonicInstant) -> DataChunk {
    entries[position].sent = now
    entries[position].transmissions += 1
    entries[position].packet = packet
    // Nothing else may make the peer acknowledge it soon.
    entries[position].chunk.wantsImmediateAck = true
    setState(.inFlight, at: position)
    retransmissions += 1
    return entries[position].chunk
  }

  /// The position of the newest chunk in flight that may be sent again, among the newest 64.
  func probePosition(now: MonotonicInstant) -> Int? {
    entries.indices.suffix(64).last { position in
      let entry = entries[position]
      guard entry.state == .inFlight else { return false }
      let isExhausted = entry.reliability.maximumRetransmissions.map { entry.transmissions > $0 } ?? false
      return !isExhausted && !entry.reliability.hasExpired(now: now)
    }
  }

  /// Sends a chunk in flight again, although it is not known to be lost; nil if it has more than `space` bytes.
  mutating func probe(at position: Int, space: Int, now: MonotonicInstant) -> DataChunk? {
    guard entries[position].chunk.payload.readableBytes <= space else { return nil }
    probedTSN = cumulativeTSN + 1 + Int64(position)
    return transmitAgain(position, now: now)
  }

  /// The newest chunk requests an acknowledgement at once. It was just made, and is returned as it must be sent.
  mutating func requestAck() -> DataChunk? {
    guard let position = entries.indices.last else { return nil }
    entries[position].chunk.wantsImmediateAck = true
    return entries[position].chunk
  }

  /// Changes the state of an entry, and the sums with it.
  mutating func setState(_ state: State, at position: Int) {
    let bytes = entries[position].chunk.payload.readableBytes
    switch entries[position].state {
    case .inFlight: flightBytes -= bytes
    case .lost: lostCount -= 1
    case .acknowledged, .abandoned: break
    }
    switch state {
    case .inFlight: flightBytes += bytes
    case .lost:
      lostCount += 1
      lostHint = min(lostHint, position)
    case .acknowledged, .abandoned: break
    }
    entries[position].state = state
  }

  /// Removes the entries up to a TSN.
  mutating func removeAll(upTo tsn: Int64) {
    let removed = Int(min(tsn, highestTSN) - cumulativeTSN)
    guard removed > 0 else { return }
    for position in 0..<removed { setState(.acknowledged, at: position) }
    entries.removeFirst(removed)
    lostHint = max(0, lostHint - removed)
    cumulativeTSN += Int64(removed)
  }

  /// Abandons all sent fragments of messages.
  ///
  /// - Parameter last: the empty chunk that ends a message of which a part was not sent.
  mutating func abandon(
    _ messages: [OutgoingMessage.Reliability], last: (DataChunk, OutgoingMessage.Reliability)?, now: MonotonicInstant
  ) {
    if let (chunk, reliability) = last { _ = send(chunk, reliability: reliability, now: now) }
    guard !messages.isEmpty else { return }
    let abandoned = Set(messages.map(\.message))
    abandonedMessages += abandoned.count
    visits += entries.count
    // A fragment that the peer has is skipped with the others.
    for position in entries.indices where abandoned.contains(entries[position].reliability.message) {
      setState(.abandoned, at: position)
    }
  }

  /// The TSN up to which all chunks are abandoned; the cumulative TSN if the first is not.
  ///
  /// At most 256 streams are skipped at a time, which fit into one packet.
  mutating func skip() -> ForwardTSNChunk? {
    var skipped: [ForwardTSNChunk.Skipped] = []
    var positions: [UInt16: Int] = [:]
    var length = 0
    for position in entries.indices {
      guard entries[position].state == .abandoned else { break }
      let chunk = entries[position].chunk
      if !chunk.isUnordered {
        if let known = positions[chunk.stream] {
          skipped[known].streamSequenceNumber = chunk.streamSequenceNumber
        } else {
          guard skipped.count < 256 else { break }
          positions[chunk.stream] = skipped.count
          skipped.append(.init(stream: chunk.stream, streamSequenceNumber: chunk.streamSequenceNumber))
        }
      }
      length = position + 1
    }
    visits += length
    guard length > 0 else { return nil }
    return ForwardTSNChunk(
      newCumulativeTSN: UInt32(truncatingIfNeeded: cumulativeTSN + Int64(length)), skipped: skipped)
  }

  var isFirstAbandoned: Bool { entries.first?.state == .abandoned }
}
