import Media
import NIOCore
import SCTP

/// An established SCTP association, and a data channel transport, whose peer sends what the input says.
enum SCTPTarget {
  /// What the peer needs to know to send valid chunks.
  private struct Peer {
    var tag: UInt32 = 0
    var nextTSN: UInt32 = 0
  }

  private static let made = MonotonicInstant.now
  private static let association = established(
    SCTPAssociation(generator: FixedGenerator(seed: 1), now: made),
    receive: { $0.receive($1, now: made) }, packets: { $0.takePackets(now: made) })
  private static let transport = established(
    DataChannelTransport(role: .dtlsServer, generator: FixedGenerator(seed: 1), now: made),
    receive: { $0.receive($1, now: made) }, packets: { $0.takePackets(now: made) })

  /// Packets: for each a byte of choices, two bytes with the length, and the chunks.
  static func packets(_ input: [UInt8]) throws(InvariantViolation) {
    var (target, peer) = association
    var now = made
    var cursor = InputCursor(input)
    while !cursor.isAtEnd {
      let choices = cursor.byte()
      let length = Int(cursor.byte()) << 8 | Int(cursor.byte())
      var wire = packet(cursor.bytes(length), tag: choices & 8 != 0 ? 0 : peer.tag)
      if choices & 16 != 0 { wire.setInteger(UInt8(1), at: 7) }
      if choices & 1 != 0 {
        try? target.send(ByteBuffer(repeating: 7, count: 3_000), stream: 3, protocolID: 53, now: now)
      }
      if choices & 2 != 0 {
        let options = SCTPSendOptions(lifetime: .milliseconds(100), maximumRetransmissions: 0)
        try? target.send(ByteBuffer(repeating: 8, count: 2_000), stream: 4, protocolID: 53, options: options, now: now)
      }
      if choices & 4 != 0 { now = now + .milliseconds(150) }
      if choices & 32 != 0 { target.resetStream(3, now: now) }
      if choices & 64 != 0 { target.shutdown(now: now) }
      try receive(wire, target: &target, now: now)
      // An input that skips this leaves events and packets waiting.
      guard choices & 128 == 0 else { continue }
      while target.nextEvent(now: now) != nil {}
      _ = target.takePackets(now: now)
      try require(target.deadline.map { $0 > now } ?? true, "A deadline is in the past after all was taken.")
    }
  }

  private static func receive(
    _ datagram: ByteBuffer, target: inout SCTPAssociation, now: MonotonicInstant
  ) throws(InvariantViolation) {
    if let packet = try? SCTPPacket(parsing: datagram) {
      let again = written { packet.write(into: &$0) }
      try require((try? SCTPPacket(parsing: again)) == packet, "A packet does not round-trip.")
    }
    let visits = target.visits
    target.receive(datagram, now: now)
    try require(target.visits - visits <= 400_000, "A packet causes \(target.visits - visits) visits.")
    try require(target.receiveMemory <= 4 << 20, "\(target.receiveMemory) bytes are kept.")
    let queued = target.queuedEntries
    try require(
      queued.chunks <= 8_192 && queued.packets <= 32 && queued.controls <= 64, "Queues exceed limits: \(queued).")
    try require(target.bytesInFlight >= 0 && target.bufferedAmount >= 0, "A sum of bytes is negative.")
  }

  /// Messages: for each a byte of choices, one with the stream, one with the length, and the bytes.
  static func dataChannels(_ input: [UInt8]) throws(InvariantViolation) {
    var (target, peer) = transport
    var now = made
    var cursor = InputCursor(input)
    var sequences: [UInt16: UInt16] = [:]
    while !cursor.isAtEnd {
      let choices = cursor.byte()
      let stream = UInt16(cursor.byte())
      let message = cursor.counted()
      if let control = try? DataChannelControlMessage(parsing: message) {
        let again = written { control.write(into: &$0) }
        try require((try? DataChannelControlMessage(parsing: again)) == control, "A DCEP message does not round-trip.")
      }
      if choices & 8 != 0 { _ = try? target.open(.init(label: "ours"), now: now) }
      if choices & 16 != 0 { target.close(stream, now: now) }
      if choices & 32 != 0 { try? target.send(.binary(message), on: stream, now: now) }
      if choices & 64 != 0 { now = now + .milliseconds(150) }
      let protocolID: UInt32 = [50, 51, 53, 56, 57, 50, 50, 52][Int(choices & 7)]
      let chunk = DataChunk(
        tsn: peer.nextTSN, stream: stream, streamSequenceNumber: sequences[stream, default: 0], protocolID: protocolID,
        payload: message)
      peer.nextTSN &+= 1
      sequences[stream, default: 0] &+= 1
      target.receive(packet(tag: peer.tag, [.data(chunk)]), now: now)
      if choices & 128 != 0 {
        // The peer's end of the channel is closed.
        target.receive(
          packet(
            tag: peer.tag,
            [
              .reconfiguration([
                .outgoingReset(request: peer.nextTSN, response: 0, lastTSN: peer.nextTSN &- 1, streams: [stream])
              ])
            ]), now: now)
      }
      while target.nextEvent(now: now) != nil {}
      _ = target.takePackets(now: now)
      try require(target.openChannels.count <= DataChannelTransport.maximumChannels, "Too many channels are open.")
      try require(target.association.receiveMemory <= 4 << 20, "\(target.association.receiveMemory) bytes are kept.")
    }
  }

  private static func packet(tag: UInt32, _ chunks: [SCTPChunk]) -> ByteBuffer {
    written {
      SCTPPacket(sourcePort: 5_000, destinationPort: 5_000, verificationTag: tag, chunks: chunks).write(into: &$0)
    }
  }

  /// A packet of any chunks with the right checksum.
  private static func packet(_ chunks: [UInt8], tag: UInt32) -> ByteBuffer {
    var datagram = packet(tag: tag, [])
    datagram.writeBytes(chunks)
    datagram.setInteger(UInt32(0), at: 8)
    var checksum = CRC32c()
    datagram.withUnsafeReadableBytes { checksum.update($0) }
    datagram.setInteger(checksum.value, at: 8, endianness: .little)
    return datagram
  }

  /// Sets up an association; returns the target and what its peer knows.
  private static func established<Target>(
    _ target: Target, receive: (inout Target, ByteBuffer) -> Void, packets: (inout Target) -> [ByteBuffer]
  ) -> (Target, Peer) {
    var target = target
    var known = Peer()
    var peer = SCTPAssociation(generator: FixedGenerator(seed: 2), now: made)
    peer.connect(now: made)
    for _ in 0..<4 {
      for datagram in peer.takePackets(now: made) {
        if case .initiation(let chunk)? = (try? SCTPPacket(parsing: datagram))?.chunks.first {
          known.nextTSN = chunk.initialTSN
        }
        receive(&target, datagram)
      }
      for datagram in packets(&target) {
        if case .initiationAck(let chunk)? = (try? SCTPPacket(parsing: datagram))?.chunks.first {
          known.tag = chunk.initiateTag
        }
        peer.receive(datagram, now: made)
      }
    }
    return (target, known)
  }
}
