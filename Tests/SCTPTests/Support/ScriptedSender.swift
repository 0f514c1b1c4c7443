import Media
import NIOCore
import NetworkEmulation
import SCTP
import TestSupport

/// A connected association and the means to send it any chunks with the right tag, as a hostile peer can.
struct ScriptedSender {
  var target: SCTPAssociation
  let tag: UInt32
  /// The TSN after the last chunk that the target expects.
  let nextTSN: UInt32
  var now: MonotonicInstant
  var events: [SCTPEvent] = []

  init(options: SCTPAssociation.Options = AssociationPair.patient, seed: UInt64 = 1) {
    var pair = AssociationPair(.init(), seed: seed, options: options)
    var tag: UInt32 = 0
    var initialTSN: UInt32 = 0
    pair.isLost = { side, datagram in
      for chunk in chunks(datagram) {
        if side == .left, case .initiation(let chunk) = chunk { initialTSN = chunk.initialTSN }
        if side == .right, case .initiationAck(let chunk) = chunk { tag = chunk.initiateTag }
      }
      return false
    }
    pair.left.connect(now: pair.now)
    pair.run(.seconds(1))
    target = pair.right
    self.tag = tag
    nextTSN = initialTSN
    now = pair.now
  }

  /// Sends chunks in one packet and returns the chunks of the answers.
  @discardableResult
  mutating func send(_ chunks: [SCTPChunk], takesEvents: Bool = true) -> [SCTPChunk] {
    target.receive(packet(chunks).encoded(), now: now)
    while takesEvents, let event = target.nextEvent(now: now) { events.append(event) }
    return target.takePackets(now: now).flatMap { SCTPTests.chunks($0) }
  }

  func packet(_ chunks: [SCTPChunk]) -> SCTPPacket {
    SCTPPacket(sourcePort: 5_000, destinationPort: 5_000, verificationTag: tag, chunks: chunks)
  }

  /// A DATA chunk with a TSN relative to the first one that the target expects.
  func data(
    _ offset: UInt32, stream: UInt16 = 0, sequence: UInt16 = 0, bytes: Int = 100, isFirst: Bool = true,
    isLast: Bool = true, isUnordered: Bool = false
  ) -> SCTPChunk {
    var chunk = DataChunk(
      tsn: nextTSN &+ offset, stream: stream, streamSequenceNumber: sequence, protocolID: 53,
      payload: payload(bytes, number: Int(offset)))
    chunk.isFirst = isFirst
    chunk.isLast = isLast
    chunk.isUnordered = isUnordered
    return .data(chunk)
  }
}
