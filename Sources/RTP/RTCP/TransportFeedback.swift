internal import Bitstream
package import NIOCore

/// The arrival times of a transport's packets: transport-wide congestion control feedback
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01, 3.1).
///
/// The value stores the chunks and deltas of the packet, so that writing returns the same bytes; `arrivals` decodes
/// them. `TransportFeedbackBuilder` creates them.
package struct TransportFeedback: Sendable, Hashable {
  static let format: UInt8 = 15

  /// One packet that arrived.
  package struct Arrival: Sendable, Hashable {
    /// The transport-wide sequence number.
    package var sequenceNumber: UInt16
    /// The arrival time on the receiver's clock in units of 250 µs; only differences are meaningful.
    package var time: Int64

    package init(sequenceNumber: UInt16, time: Int64) {
      self.sequenceNumber = sequenceNumber
      self.time = time
    }
  }

  package var senderSSRC: UInt32
  /// Any source of the transport; not used.
  package var mediaSSRC: UInt32
  /// The sequence number of the first reported packet.
  package var baseSequenceNumber: UInt16
  /// The number of reported packets.
  package var packetStatusCount: UInt16
  /// The time to which the first delta is relative, in units of 64 ms; 24 bits, signed.
  package var referenceTime: Int32
  /// A counter, incremented with each feedback packet.
  package var feedbackPacketCount: UInt8
  /// Runs and vectors of statuses.
  package var chunks: [StatusChunk]
  /// For each received packet, the time since the previous one in units of 250 µs.
  package var deltas: [Int16]
  /// Whether the P bit marks the zeros after the last delta, as in libwebrtc. In the draft they are not marked.
  package var marksPadding = true

  package init(
    senderSSRC: UInt32, mediaSSRC: UInt32, baseSequenceNumber: UInt16, packetStatusCount: UInt16, referenceTime: Int32,
    feedbackPacketCount: UInt8, chunks: [StatusChunk], deltas: [Int16]
  ) {
    self.senderSSRC = senderSSRC
    self.mediaSSRC = mediaSSRC
    self.baseSequenceNumber = baseSequenceNumber
    self.packetStatusCount = packetStatusCount
    self.referenceTime = referenceTime
    self.feedbackPacketCount = feedbackPacketCount
    self.chunks = chunks
    self.deltas = deltas
  }

  /// Reads chunks until they cover all statuses, then one delta for each received packet.
  ///
  /// The work is bounded by the bytes, not by the number of statuses that runs announce.
  init(parsing raw: RawRTCPPacket) throws(ParseError) {
    var body = raw.body
    guard
      let (senderSSRC, mediaSSRC, base, count, time) = body.readMultipleIntegers(
        as: (UInt32, UInt32, UInt16, UInt16, UInt32).self)
    else {
      throw .tooShort("A transport feedback's body", needs: 16, found: raw.body.readableBytes)
    }
    self.init(
      senderSSRC: senderSSRC, mediaSSRC: mediaSSRC, baseSequenceNumber: base, packetStatusCount: count,
      referenceTime: Int32(bitPattern: time) >> 8, feedbackPacketCount: UInt8(truncatingIfNeeded: time),
      chunks: [], deltas: [])
    var uncovered = Int(count)
    while uncovered > 0 {
      guard let word = body.readInteger(as: UInt16.self) else {
        throw .tooShort(
          "A transport feedback on \(count) packets", needs: raw.body.readableBytes + 2, found: raw.body.readableBytes)
      }
      let chunk = StatusChunk(word: word)
      chunks.append(chunk)
      uncovered -= chunk.count
    }
    try readDeltas(from: &body)
    marksPadding = raw.isPadded || body.readableBytes & 3 == 0
  }

  /// The received packets in the order of their sequence numbers, which may differ from the order of their times.
  /// Numbers missing in between were lost or had not arrived yet.
  package var arrivals: [Arrival] {
    var arrivals: [Arrival] = []
    arrivals.reserveCapacity(deltas.count)
    var time = Int64(referenceTime) * 256
    forEachReceived { offset, _ in
      guard arrivals.count < deltas.count else { return false }
      time += Int64(deltas[arrivals.count])
      arrivals.append(
        Arrival(sequenceNumber: baseSequenceNumber &+ UInt16(truncatingIfNeeded: offset), time: time))
      return true
    }
    return arrivals
  }

  package func write(into buffer: inout ByteBuffer) {
    buffer.writeRTCP(type: RTCPPacket.Kind.transportLayerFeedback, count: Int(Self.format)) { body in
      let start = body.writerIndex
      body.writeMultipleIntegers(
        senderSSRC, mediaSSRC, baseSequenceNumber, packetStatusCount,
        UInt32(bitPattern: referenceTime) << 8 | UInt32(feedbackPacketCount))
      for chunk in chunks { body.writeInteger(chunk.word) }
      var index = 0
      forEachReceived { _, status in
        guard index < deltas.count else { return false }
        if status == .smallDelta {
          body.writeInteger(UInt8(truncatingIfNeeded: deltas[index]))
        } else {
          body.writeInteger(deltas[index])
        }
        index += 1
        return true
      }
      if !marksPadding { body.padToWord(since: start) }
    }
  }

  private mutating func readDeltas(from body: inout ByteBuffer) throws(ParseError) {
    let found = body.readableBytes
    var rest = body
    var read: [Int16] = []
    var reserved = false
    let isComplete = forEachReceived { _, status in
      let delta: Int16? =
        switch status {
        case .smallDelta: rest.readInteger(as: UInt8.self).map(Int16.init)
        case .largeDelta: rest.readInteger(as: Int16.self)
        default: nil
        }
      reserved = status == .reserved
      guard let delta else { return false }
      read.append(delta)
      return true
    }
    if reserved { throw .wrongValue("A transport feedback's packet status", expected: "0, 1 or 2", found: 3) }
    guard isComplete else {
      throw .tooShort("A transport feedback's list of more than \(read.count) deltas", needs: found + 1, found: found)
    }
    deltas = read
    body = rest
  }

  /// Calls `visit` with the status of each packet that is not "not received" and its distance from the first, until
  /// `visit` returns false. Runs of packets that were not received cost nothing.
  ///
  /// - Returns: whether all packets were visited.
  @discardableResult
  private func forEachReceived(_ visit: (_ offset: Int, _ status: Status) -> Bool) -> Bool {
    var offset = 0
    let end = Int(packetStatusCount)
    for chunk in chunks {
      let count = min(chunk.count, end - offset)
      if case .run(.notReceived, _) = chunk {
        offset += count
        continue
      }
      for index in 0..<count {
        let status = chunk.status(at: index)
        if status != .notReceived, !visit(offset + index, status) { return false }
      }
      offset += count
    }
    return true
  }
}
