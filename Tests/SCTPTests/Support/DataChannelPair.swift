import Media
import NIOCore
import NetworkEmulation
import SCTP
import TestSupport

/// Two data channel transports joined by lossy links, in simulated time. The left one is the DTLS client.
struct DataChannelPair {
  var left: DataChannelTransport
  var right: DataChannelTransport
  var toRight: EmulatedLink
  var toLeft: EmulatedLink
  var now = MonotonicInstant.now
  var leftEvents: [DataChannelEvent] = []
  var rightEvents: [DataChannelEvent] = []
  /// Sends whatever a test wants from the left, on the same association.
  private var rawSender: SCTPAssociation?

  init(_ conditions: Impairment.Conditions = .init(delay: .milliseconds(5)), seed: UInt64 = 1) {
    let options = AssociationPair.patient
    left = DataChannelTransport(
      role: .dtlsClient, options: options, generator: SeededGenerator(seed: seed), now: now)
    right = DataChannelTransport(
      role: .dtlsServer, options: options, generator: SeededGenerator(seed: seed ^ 0xFF), now: now)
    toRight = EmulatedLink(conditions, seed: seed &* 3)
    toLeft = EmulatedLink(conditions, seed: seed &* 5)
  }

  static func connected(
    _ conditions: Impairment.Conditions = .init(delay: .milliseconds(5)), seed: UInt64 = 1
  ) -> DataChannelPair {
    var pair = DataChannelPair(conditions, seed: seed)
    pair.left.connect(now: pair.now)
    pair.right.connect(now: pair.now)
    pair.run(.seconds(60)) { $0.left.association.isConnected && $0.right.association.isConnected }
    pair.run(.milliseconds(50))
    pair.leftEvents = []
    pair.rightEvents = []
    return pair
  }

  /// Sends a message of the left side without its data channel layer, which no longer takes part.
  mutating func sendRaw(_ payload: ByteBuffer, stream: UInt16, protocolID: UInt32) {
    var association = rawSender ?? left.association
    try? association.send(payload, stream: stream, protocolID: protocolID, now: now)
    rawSender = association
  }

  @discardableResult
  mutating func run(_ duration: Duration, until condition: (DataChannelPair) -> Bool = { _ in false }) -> Bool {
    let end = now + duration
    while true {
      exchange()
      if condition(self) { return true }
      let links = [toRight.deadline, toLeft.deadline].compactMap(\.self)
      let deadlines = [rawSender?.deadline ?? left.deadline, right.deadline].compactMap(\.self)
      guard let next = (links + deadlines).min(), next <= end else {
        now = max(now, end)
        exchange()
        return condition(self)
      }
      now = max(now, next)
    }
  }

  mutating func exchange() {
    while let datagram = toRight.receive(now: now) { right.receive(datagram, now: now) }
    while let datagram = toLeft.receive(now: now) {
      if rawSender == nil { left.receive(datagram, now: now) } else { rawSender?.receive(datagram, now: now) }
    }
    while let event = left.nextEvent(now: now) { leftEvents.append(event) }
    while rawSender?.nextEvent(now: now) != nil {}
    while let event = right.nextEvent(now: now) { rightEvents.append(event) }
    let packets = rawSender == nil ? left.takePackets(now: now) : rawSender?.takePackets(now: now) ?? []
    for datagram in packets { toRight.send(datagram, now: now) }
    for datagram in right.takePackets(now: now) { toLeft.send(datagram, now: now) }
    // What sending caused is an event as well.
    while let event = left.nextEvent(now: now) { leftEvents.append(event) }
    while let event = right.nextEvent(now: now) { rightEvents.append(event) }
  }
}
