/// Collects the arrivals of a transport's packets and builds feedback from them, in as many packets as needed.
///
/// Packets may arrive in any order. Each feedback begins where the previous one ended, so a loss between the two is
/// reported. Packets that arrive after their range was reported get a feedback of their own, which reports nothing
/// about the packets around them.
package struct TransportFeedbackBuilder: Sendable {
  /// The maximum number of statuses in one feedback: even with the worst mix of deltas it stays below 1,200 bytes.
  private static let maximumStatusCount: Int64 = 480

  package var senderSSRC: UInt32
  package var mediaSSRC: UInt32
  private var unwrapper = SequenceNumberUnwrapper()
  private var feedbackPacketCount: UInt8 = 0
  private var pending: [Arrival] = []
  /// The sequence number after the last reported one.
  private var next: Int64?

  private struct Arrival {
    var number: Int64
    /// Units of 250 µs since the origin.
    var time: Int64
  }

  package init(senderSSRC: UInt32, mediaSSRC: UInt32 = 0) {
    self.senderSSRC = senderSSRC
    self.mediaSSRC = mediaSSRC
  }

  /// The number of arrivals that are not reported yet.
  package var pendingCount: Int { pending.count }

  /// Adds an arrival. A second arrival of the same packet is ignored while the first is pending.
  ///
  /// - Parameter arrival: the time since the origin of the reference times, which is a fixed instant not after the
  ///   first arrival.
  package mutating func add(sequenceNumber: UInt16, arrival: Duration) {
    let (seconds, attoseconds) = arrival.components
    let time = seconds &* 4_000 &+ attoseconds / 250_000_000_000_000
    let new = Arrival(number: unwrapper.unwrap(sequenceNumber), time: time)
    // The number is nearly always the newest, so the search from the end is short.
    var position = pending.endIndex
    while position > 0, pending[position - 1].number > new.number { position -= 1 }
    if position > 0, pending[position - 1].number == new.number { return }
    pending.insert(new, at: position)
  }

  /// Returns the feedback on all arrivals since the last call; empty when there were none.
  package mutating func build() -> [TransportFeedback] {
    var feedbacks: [TransportFeedback] = []
    var rest = pending[...]
    while let first = rest.first {
      feedbacks.append(takeFeedback(from: &rest, first: first))
    }
    pending.removeAll(keepingCapacity: true)
    return feedbacks
  }

  /// Removes arrivals from the front, up to the first that is too far ahead in number or time, and returns the feedback
  /// on them.
  private mutating func takeFeedback(from rest: inout ArraySlice<Arrival>, first: Arrival) -> TransportFeedback {
    // A jump that one feedback cannot span starts a new range; it is neither a loss nor a late packet.
    let distance = next.map { first.number - $0 } ?? .max
    let isLate = distance < 0 && distance > -Self.maximumStatusCount
    let base = (0..<Self.maximumStatusCount).contains(distance) ? first.number - distance : first.number
    // 64 ms are 256 units. The shift rounds down, so the first delta is never negative.
    let reference = first.time >> 8
    var time = reference << 8
    var number = base
    var chunks = StatusChunkWriter()
    var deltas: [Int16] = []
    deltas.reserveCapacity(rest.count)
    while let arrival = rest.first, arrival.number - base < Self.maximumStatusCount,
      !isLate || arrival.number == number, let delta = Int16(exactly: arrival.time &- time)
    {
      chunks.append(.notReceived, count: Int(arrival.number - number))
      chunks.append(TransportFeedback.Status(delta: delta), count: 1)
      deltas.append(delta)
      time = arrival.time
      number = arrival.number + 1
      rest.removeFirst()
    }
    next = isLate ? max(number, next ?? number) : number
    defer { feedbackPacketCount &+= 1 }
    return TransportFeedback(
      senderSSRC: senderSSRC, mediaSSRC: mediaSSRC, baseSequenceNumber: UInt16(truncatingIfNeeded: base),
      packetStatusCount: UInt16(truncatingIfNeeded: number - base),
      referenceTime: Int32(truncatingIfNeeded: reference << 8) >> 8, feedbackPacketCount: feedbackPacketCount,
      chunks: chunks.finish(), deltas: deltas)
  }
}

/// Packs packet statuses into few chunks, with a lookahead of 14 statuses.
struct StatusChunkWriter {
  private typealias Chunk = TransportFeedback.StatusChunk

  private var chunks: [TransportFeedback.StatusChunk] = []
  private var waiting: [TransportFeedback.Status] = []

  mutating func append(_ status: TransportFeedback.Status, count: Int) {
    waiting.append(contentsOf: repeatElement(status, count: count))
  }

  /// Returns the chunks of all statuses: a run where it is shorter, otherwise a vector of the size that the statuses
  /// need.
  mutating func finish() -> [TransportFeedback.StatusChunk] {
    var rest = waiting[...]
    while let first = rest.first {
      let run = rest.prefix(Chunk.runCapacity).prefix { $0 == first }.count
      let oneBit = rest.prefix(Chunk.oneBitCapacity).prefix { $0 != .largeDelta }.count
      if run == rest.count || run >= Chunk.oneBitCapacity || run >= Chunk.twoBitCapacity && oneBit <= run {
        chunks.append(.run(first, count: UInt16(run)))
        rest = rest.dropFirst(run)
      } else if oneBit == Chunk.oneBitCapacity || oneBit == rest.count {
        chunks.append(.oneBitVector(Self.bits(rest.prefix(Chunk.oneBitCapacity), width: 1)))
        rest = rest.dropFirst(Chunk.oneBitCapacity)
      } else {
        chunks.append(.twoBitVector(Self.bits(rest.prefix(Chunk.twoBitCapacity), width: 2)))
        rest = rest.dropFirst(Chunk.twoBitCapacity)
      }
    }
    waiting = []
    defer { chunks = [] }
    return chunks
  }

  /// Returns the statuses from bit 13 downwards, `width` bits each.
  private static func bits(_ statuses: ArraySlice<TransportFeedback.Status>, width: Int) -> UInt16 {
    var bits: UInt16 = 0
    var shift = 14
    for status in statuses {
      shift -= width
      bits |= UInt16(status.rawValue) << shift
    }
    return bits
  }
}
