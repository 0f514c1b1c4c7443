import Media
import NIOCore
import SCTP
import TestSupport

/// A connected data channel transport and the means to send it any messages on any streams, as a hostile peer can.
struct ScriptedChannelPeer {
  var target: DataChannelTransport
  let now: MonotonicInstant
  private var tag: UInt32 = 0
  private var nextTSN: UInt32 = 0
  private var sequences: [UInt16: UInt16] = [:]

  init(seed: UInt64 = 1) {
    now = .now
    target = DataChannelTransport(
      role: .dtlsServer, options: AssociationPair.patient, generator: SeededGenerator(seed: seed), now: now)
    var peer = SCTPAssociation(
      options: AssociationPair.patient, generator: SeededGenerator(seed: ~seed), now: now)
    peer.connect(now: now)
    for _ in 0..<4 {
      for datagram in peer.takePackets(now: now) {
        if case .initiation(let chunk)? = chunks(datagram).first { nextTSN = chunk.initialTSN }
        target.receive(datagram, now: now)
      }
      for datagram in target.takePackets(now: now) {
        if case .initiationAck(let chunk)? = chunks(datagram).first { tag = chunk.initiateTag }
        peer.receive(datagram, now: now)
      }
    }
  }

  /// Sends one message and takes all events and answers.
  @discardableResult
  mutating func send(
    _ message: ByteBuffer, stream: UInt16, protocolID: UInt32 = DataChannelProtocolID.control
  ) -> [DataChannelEvent] {
    let chunk = DataChunk(
      tsn: nextTSN, stream: stream, streamSequenceNumber: sequences[stream, default: 0], protocolID: protocolID,
      payload: message)
    nextTSN &+= 1
    sequences[stream, default: 0] &+= 1
    target.receive(
      SCTPPacket(sourcePort: 5_000, destinationPort: 5_000, verificationTag: tag, chunks: [.data(chunk)]).encoded(),
      now: now)
    var events: [DataChannelEvent] = []
    while let event = target.nextEvent(now: now) { events.append(event) }
    _ = target.takePackets(now: now)
    return events
  }
}
