import Media
import NIOCore
import NetworkEmulation
import SCTP
import TestSupport
import Testing

/// Two associations joined by two lossy links, in simulated time.
struct AssociationPair {
  enum Side: Sendable {
    case left
    case right
  }

  var left: SCTPAssociation
  var right: SCTPAssociation
  var toRight: EmulatedLink
  var toLeft: EmulatedLink
  var now: MonotonicInstant
  var leftEvents: [SCTPEvent] = []
  var rightEvents: [SCTPEvent] = []
  /// Whether the events of a side are left where they are.
  var rightIsPaused = false
  /// Datagrams for which this returns true are lost; the side is the one that sent it.
  var isLost: (Side, ByteBuffer) -> Bool = { _, _ in false }
  var maximumReceiveMemory = 0

  init(
    _ conditions: Impairment.Conditions = .init(delay: .milliseconds(5)), seed: UInt64 = 1,
    options: SCTPAssociation.Options = Self.patient, rightOptions: SCTPAssociation.Options? = nil
  ) {
    now = .now
    left = SCTPAssociation(options: options, generator: SeededGenerator(seed: seed), now: now)
    right = SCTPAssociation(options: rightOptions ?? options, generator: SeededGenerator(seed: seed ^ 0xFFFF), now: now)
    toRight = EmulatedLink(conditions, seed: seed &* 3)
    toLeft = EmulatedLink(conditions, seed: seed &* 5)
  }

  /// Options without a limit on timeouts, as libwebrtc uses them.
  static var patient: SCTPAssociation.Options {
    var options = SCTPAssociation.Options()
    options.maximumRetransmissions = nil
    options.maximumSetupRetransmissions = nil
    options.peerMaximumMessageBytes = 256 << 10
    return options
  }

  /// A pair that is set up.
  static func connected(
    _ conditions: Impairment.Conditions = .init(delay: .milliseconds(5)), seed: UInt64 = 1,
    options: SCTPAssociation.Options = Self.patient, rightOptions: SCTPAssociation.Options? = nil
  ) -> AssociationPair {
    var pair = AssociationPair(conditions, seed: seed, options: options, rightOptions: rightOptions)
    pair.left.connect(now: pair.now)
    pair.run(.seconds(600)) { $0.left.isConnected && $0.right.isConnected }
    pair.leftEvents = []
    pair.rightEvents = []
    return pair
  }

  var rightMessages: [SCTPMessage] { Self.messages(rightEvents) }
  var leftMessages: [SCTPMessage] { Self.messages(leftEvents) }

  private static func messages(_ events: [SCTPEvent]) -> [SCTPMessage] {
    events.compactMap { if case .message(let message) = $0 { message } else { nil } }
  }

  /// Exchanges packets until the condition holds, for at most `duration`; returns whether it held.
  @discardableResult
  mutating func run(_ duration: Duration, until condition: (AssociationPair) -> Bool = { _ in false }) -> Bool {
    let end = now + duration
    var stalls = 0
    while true {
      exchange()
      if condition(self) { return true }
      stalls = next.map { $0 <= now } == true ? stalls + 1 : 0
      if stalls > 1_000 {
        Issue.record("A deadline stays in the past: \(left.deadline ?? now), \(right.deadline ?? now), now \(now).")
        return false
      }
      guard let next, next <= end else {
        now = max(now, end)
        exchange()
        return condition(self)
      }
      now = max(now, next)
    }
  }

  private var next: MonotonicInstant? {
    let links = [toRight.deadline, toLeft.deadline].compactMap(\.self)
    return (links + [left.deadline, right.deadline].compactMap(\.self)).min()
  }

  /// Delivers what has arrived, takes events, and sends.
  mutating func exchange() {
    while let datagram = toRight.receive(now: now) { right.receive(datagram, now: now) }
    while let datagram = toLeft.receive(now: now) { left.receive(datagram, now: now) }
    maximumReceiveMemory = max(maximumReceiveMemory, left.receiveMemory, right.receiveMemory)
    while let event = left.nextEvent(now: now) { leftEvents.append(event) }
    if !rightIsPaused { while let event = right.nextEvent(now: now) { rightEvents.append(event) } }
    for datagram in left.takePackets(now: now) where !isLost(.left, datagram) {
      toRight.send(datagram, now: now)
    }
    for datagram in right.takePackets(now: now) where !isLost(.right, datagram) {
      toLeft.send(datagram, now: now)
    }
  }

  mutating func sendLeft(
    _ bytes: Int, stream: UInt16 = 1, number: Int = 0, options: SCTPSendOptions = .init()
  ) throws {
    try left.send(payload(bytes, number: number), stream: stream, protocolID: 53, options: options, now: now)
  }
}

/// Bytes that depend on the number, which is their first eight bytes if there is room.
func payload(_ bytes: Int, number: Int) -> ByteBuffer {
  var buffer = ByteBuffer()
  if bytes >= 8 { buffer.writeInteger(UInt64(number)) }
  buffer.writeRepeatingByte(UInt8(truncatingIfNeeded: number &* 31), count: bytes - buffer.writerIndex)
  return buffer
}

extension SCTPPacket {
  func encoded() -> ByteBuffer {
    var buffer = ByteBuffer()
    write(into: &buffer)
    return buffer
  }
}

/// The chunks of a datagram.
func chunks(_ datagram: ByteBuffer) -> [SCTPChunk] { (try? SCTPPacket(parsing: datagram))?.chunks ?? [] }
