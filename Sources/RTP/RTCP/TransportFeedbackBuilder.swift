/// Gathers the arrivals of a transport's packets and makes feedback of them, in as many packets as are needed.
///
/// Packets may arrive in any order. Each feedback begins where the last one ended, so that a loss between the two is told.
/// Packets that come after their place was reported get a feedback of their own, which says nothing of those around them.
package struct TransportFeedbackBuilder: Sendable {
  /// Statuses in one feedback: even with the worst mix of deltas it stays below 1,200 bytes.
  private static let maximumStatusCount: Int64 = 480

  package var senderSSRC: UInt32
  package var mediaSSRC: UInt32
  private var unwrapper = SequenceNumberUnwrapper()
  private var feedbackPacketCount: UInt8 = 0
  private var pending: [Arrival] = []
  /// The number after the last one reported.
  private var next: Int64?

  private struct Arrival {
    var number: Int64
    /// Units of 250 µs since the epoch.
    var time: Int64
  }

  package init(senderSSRC: UInt32, mediaSSRC: UInt32 = 0) {
    self.senderSSRC = senderSSRC
    self.mediaSSRC = mediaSSRC
  }

  /// How many arrivals wait to be reported.
  package var pendingCount: Int { pending.count }

  /// Notes an arrival; a second one of the same packet, while the first waits, is ignored.
  ///
  /// - Parameter arrival: since the origin of the reference times: any instant not after the first arrival, always the same.
  package mutating func add(sequenceNumber: UInt16, arrival: Duration) {
    let (seconds, attoseconds) = arrival.components
    let time = seconds &* 4_000 &+ attoseconds / 250_000_000_000_000
    let new = Arrival(number: unwrapper.unwrap(sequenceNumber), time: time)
    // Nearly always the newest number, so the search from the end is short.
    var position = pending.endIndex
    while position > 0, pending[position - 1].number > new.number { position -= 1 }
    if position > 0, pending[position - 1].number == new.number { return }
    pending.insert(new, at: position)
  }

  /// Makes feedback of all arrivals noted since the last call; none when there were none.
  package mutating func build() -> [TransportFeedback] {
    var feedbacks: [TransportFeedback] = []
    var rest = pending[...]
    while let first = rest.first {
      feedbacks.append(takeFeedback(from: &rest, first: first))
    }
    pending.removeAll(keepingCapacity: true)
    return feedbacks
  }

  /// Takes arrivals off the front, up to the first that is too far on in number or time.
  private mutating func takeFeedback(from rest: inout ArraySlice<Arrival>, first: Arrival) -> TransportFeedback {
    // A jump that one feedback cannot span is a new beginning, not a loss and not a late packet.
    let distance = next.map { first.number - $0 } ?? .max
    let isLate = distance < 0 && distance > -Self.maximumStatusCount
    let base = (0..<Self.maximumStatusCount).contains(distance) ? first.number - distance : first.number
    // 64 ms are 256 units. The shift rounds down, so that the first delta is never negative.
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
