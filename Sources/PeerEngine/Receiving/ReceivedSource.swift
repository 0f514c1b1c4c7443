package import Media
import NIOCore
package import RTP

/// One source's packets: put in order, holes requested and at last skipped.
///
/// The first packets are held for a moment, for the first to arrive need not be the first sent; for video until the
/// start of a keyframe is in front, since nothing before it could be decoded.
///
/// Memory is bounded: behind holes wait at most ``ReceiveTrack/Configuration/reorderingCapacity(_:)`` packets and, the
/// last packet aside, ``ReceiveTrack/Configuration/waitingBytes`` of their payload. What is beyond gives up the holes in
/// front.
package struct ReceivedSource: Sendable {
  /// What comes next in order.
  package enum Item: Sendable {
    case packet(ReceivedPacket)
    /// So many packets were given up.
    case lost(Int)
  }

  /// What a packet turned out to be.
  package enum Reception: Sendable, Hashable {
    /// It waits for its turn, or is due.
    case accepted
    /// It came before, or after it was given up.
    case useless
    /// The source has begun its numbers again: make a new one, and hand it the packets in ``suspects``.
    case restarted
  }

  /// A sender report's two clocks.
  package struct Report: Sendable {
    package var timestamp: UInt32
    package var time: NTPTime
    package var arrival: MonotonicInstant
  }

  /// A jump of sequence numbers by more than this is treated as a new beginning, once a second packet near the first one
  /// confirms it (RFC 3550, A.1).
  private static let maximumJump: Int64 = 8_192
  /// How far before the first packet earlier ones are looked for, and how far ahead of the newest a retransmission may
  /// be.
  private static let maximumSearch: Int64 = 64
  private static let searchStep: Int64 = 8
  private static let rememberedLosses = 256
  /// How many packets of a new beginning may come before two of them are near each other.
  private static let maximumSuspects = 16

  package let ssrc: UInt32
  package let kind: MediaKind
  private let clockRate: Int32
  package let configuration: ReceiveTrack.Configuration
  /// The simulcast stream's rid, if it has one.
  package var streamID: String?
  package var reporter: ReceptionReporter
  package private(set) var nack: NackGenerator
  package private(set) var lastArrival: MonotonicInstant
  package var lastReport: Report?
  /// The size of the last keyframe that began.
  package private(set) var videoSize: VideoSize?

  // Stored, because they are requested with each packet: to compute them, Swift would copy the whole value first.
  /// When ``next(now:)`` or ``requests(roundTrip:now:)`` may have something; nil while all is in order.
  package private(set) var deadline: MonotonicInstant?
  /// Bytes of payload that wait.
  package private(set) var waitingBytes = 0
  /// Whether a keyframe has begun that was not handed on yet.
  package private(set) var keyframeIsComing = false
  /// When a hole that no later keyframe makes harmless will be so old that a keyframe should be requested as well.
  package private(set) var keyframeIsDue: MonotonicInstant?
  /// When the hole in front, for which all that came after it waits, will be so old that this should be told; nil when
  /// there is none.
  package private(set) var recoveryIsSlow: MonotonicInstant?

  private var buffer: ReorderBuffer<ReceivedPacket>
  private var unwrapper = SequenceNumberUnwrapper()
  private var highest: Int64
  private var first: Int64
  private var holdsUntil: MonotonicInstant?
  private var frontStartsKeyframe = false
  private var lastKeyframeStart: Int64?
  /// Packets far away from all others, in the order of their coming.
  package private(set) var suspects: [RTPPacket] = []
  /// A packet for which the buffer has to give up what is due first.
  private var overflow: (sequence: Int64, packet: ReceivedPacket)?
  /// The first number that was due when the first packet was handed on.
  private var firstDue: Int64?
  /// Whether the hole before the next packet is skipped at once: what would fill it was left unread.
  private var skipsNextHole = false
  /// Given up a short while ago: when one still comes, it was not lost.
  private var recentlyLost: [Int64] = []

  /// - Parameters:
  ///   - packet: the first packet to come; hand it to ``receive(_:isRetransmission:arrival:statistics:)`` next.
  ///   - asks: whether the sender answers NACKs.
  package init(
    first packet: RTPPacket, codec: Codec, asks: Bool, configuration: ReceiveTrack.Configuration,
    arrival: MonotonicInstant
  ) {
    ssrc = packet.ssrc
    kind = codec.kind
    clockRate = codec.clockRate
    self.configuration = configuration
    reporter = ReceptionReporter(ssrc: packet.ssrc, clockRate: codec.clockRate)
    nack = NackGenerator(configuration: configuration.nack(codec.kind, asks: asks))
    lastArrival = arrival
    let sequence = Int64(packet.sequenceNumber)
    highest = sequence
    first = sequence
    buffer = ReorderBuffer(first: sequence, capacity: configuration.reorderingCapacity(kind))
    holdsUntil = arrival + configuration.startDelay
  }

  /// Takes in a packet of a source that is not listened to, for its liveness and size only.
  package mutating func observe(_ packet: RTPPacket, arrival: MonotonicInstant) {
    lastArrival = arrival
    count(packet, at: unwrapper.unwrap(packet.sequenceNumber), arrival: arrival)
    if kind == .video, let size = VP8Receiver.keyframeStart(in: packet.payload) { videoSize = size }
  }

  /// Takes in a packet.
  ///
  /// - Parameter isRetransmission: whether it came in another source (RFC 4588); for the counts.
  /// - Returns: with a round trip, when the packet answers the only request for it.
  package mutating func receive(
    _ packet: RTPPacket, isRetransmission: Bool, arrival: MonotonicInstant, statistics: inout TrackStatistics
  ) -> (reception: Reception, roundTrip: Duration?) {
    let sequence = unwrapper.position(of: packet.sequenceNumber)
    if !isRetransmission {
      lastArrival = arrival
      if abs(sequence - highest) > Self.maximumJump, !skipsNextHole { return (suspectRestart(packet), nil) }
      if skipsNextHole, sequence > highest { reporter = ReceptionReporter(ssrc: ssrc, clockRate: clockRate) }
      if !suspects.isEmpty { suspects.removeAll() }
      if sequence >= highest { _ = unwrapper.unwrap(packet.sequenceNumber) }
      count(packet, at: sequence, arrival: arrival)
    } else if sequence - highest > Self.maximumSearch {
      return (.useless, nil)
    }
    highest = max(highest, sequence)
    if holdsUntil != nil, sequence < buffer.next { lookBack(to: sequence, arrival: arrival) }
    let arrived = nack.arrived(sequence, now: arrival)
    if skipsNextHole, !isRetransmission, arrived == .newest {
      skipsNextHole = false
      nack.giveUp(below: sequence)
    }
    var waiting = ReceivedPacket(
      payload: packet.payload, timestamp: packet.timestamp, marker: packet.marker, arrival: arrival)
    if case .filled(let requests, _, let sinceMissed) = arrived, requests > 0 { waiting.delay = sinceMissed }
    var insertion = buffer.insert(waiting, at: sequence)
    if insertion == .beyond {
      // All that is due before can no longer be waited for; `next` hands it on or passes over it.
      nack.giveUp(below: buffer.makeRoom(for: sequence))
      begin()
      overflow = (sequence, waiting)
      insertion = .stored
    }
    let size = packet.payload.readableBytes
    if insertion == .late, let position = recentlyLost.firstIndex(of: sequence) {
      recentlyLost.remove(at: position)
      statistics.packetsLost &-= 1
      if size > 0 { statistics.packetsLate += 1 }
      insertion = .stored
    } else if insertion == .stored {
      waitingBytes += size
      noteStart(packet, at: sequence, arrival: arrival)
    }
    guard insertion == .stored else {
      statistics.packetsDuplicated += 1
      return (.useless, nil)
    }
    if size > 0 {
      statistics.packetsReceived += 1
      statistics.bytesReceived += UInt64(size)
    } else {
      statistics.packetsPadding += 1
    }
    guard case .filled(let requests, let sinceRequest, _) = arrived, requests > 0 else { return (.accepted, nil) }
    if size > 0 { statistics.packetsRecovered += 1 }
    return (.accepted, isRetransmission && requests == 1 ? sinceRequest : nil)
  }

  /// How many of the source's numbers are settled: handed on or given up.
  package var settled: UInt64 {
    mutating get { firstDue.map { UInt64(clamping: buffer.next - $0) } ?? 0 }
  }

  /// How many packets came that are not handed on yet.
  package var waitingPackets: Int { buffer.count + (overflow == nil ? 0 : 1) }

  /// What comes next in order; nil while it is waited for. Ask until nil after each packet and each deadline.
  package mutating func next(now: MonotonicInstant) -> Item? {
    let item = takeNext(now: now)
    // Packets are taken until there is none, so this is said once for each that comes.
    if case nil = item { updateDeadlines() }
    return item
  }

  private mutating func takeNext(now: MonotonicInstant) -> Item? {
    let isFull = waitingBytes > configuration.waitingBytes
    if let hold = holdsUntil {
      guard frontStartsKeyframe || hold <= now || isFull else { return nil }
      begin()
      nack.giveUp(below: buffer.next)
    }
    if let ahead = overflow, ahead.sequence - buffer.next < Int64(buffer.capacity) {
      _ = buffer.insert(ahead.packet, at: ahead.sequence)
      overflow = nil
    }
    if let packet = buffer.popNext() {
      waitingBytes -= packet.payload.readableBytes
      return .packet(packet)
    }
    guard let present = buffer.firstWaiting ?? overflow?.sequence else { return nil }
    if isFull { nack.giveUp(below: present) }
    guard !nack.isMissing(buffer.next) else { return nil }
    let end = min(present, nack.firstMissing(above: buffer.next) ?? present)
    recentlyLost.append(contentsOf: max(buffer.next, end - Int64(Self.rememberedLosses))..<end)
    if recentlyLost.count > Self.rememberedLosses * 2 {
      recentlyLost.removeFirst(recentlyLost.count - Self.rememberedLosses)
    }
    return .lost(buffer.skip(to: end))
  }

  /// What came was left unread for a while and is read again: nothing of it is looked for, and none of it is called lost to the
  /// sender.
  mutating func willBeReadAgain(now: MonotonicInstant) {
    lastArrival = now
    skipsNextHole = true
  }

  /// The first packets have been held long enough.
  private mutating func begin() {
    guard holdsUntil != nil else { return }
    holdsUntil = nil
    firstDue = buffer.next
  }

  /// The sequence numbers to request now.
  package mutating func requests(roundTrip: RoundTripTime, now: MonotonicInstant) -> [UInt16] {
    defer { updateDeadlines() }
    return nack.poll(roundTrip: roundTrip, now: now).map { UInt16(truncatingIfNeeded: $0) }
  }

  private mutating func updateDeadlines() {
    deadline = nack.deadline
    if let hold = holdsUntil { deadline = deadline.map { min($0, hold) } ?? hold }
    keyframeIsComing = lastKeyframeStart.map { $0 >= buffer.next } ?? false
    keyframeIsDue = nil
    recoveryIsSlow = nil
    guard nack.count > 0 else { return }
    if holdsUntil == nil, nack.isMissing(buffer.next) {
      recoveryIsSlow = nack.instant(ofAge: configuration.recoveryDelay, above: buffer.next - 1)
    }
    if kind == .video {
      let harmless = max(lastKeyframeStart ?? .min, buffer.next - 1)
      keyframeIsDue = nack.instant(ofAge: configuration.keyframeDelay, above: harmless)
    }
  }

  /// Waits for nothing any more: ``next(now:)`` then gives all that is there.
  package mutating func giveUpAll() {
    begin()
    nack.giveUp(below: .max)
  }

  private mutating func suspectRestart(_ packet: RTPPacket) -> Reception {
    let isConfirmed = suspects.contains { suspect in
      let distance = Int16(bitPattern: packet.sequenceNumber &- suspect.sequenceNumber)
      return distance != 0 && distance.magnitude <= UInt16(Self.maximumSearch)
    }
    if suspects.count >= Self.maximumSuspects { suspects.removeFirst() }
    suspects.append(packet)
    return isConfirmed ? .restarted : .useless
  }

  private mutating func count(_ packet: RTPPacket, at sequence: Int64, arrival: MonotonicInstant) {
    reporter.received(sequence: sequence, timestamp: packet.timestamp, arrival: arrival)
  }

  /// Before anything was handed on: makes an earlier packet the first.
  private mutating func lookBack(to sequence: Int64, arrival: MonotonicInstant) {
    let before = buffer.next
    guard first - sequence <= Self.maximumSearch, buffer.moveBack(to: sequence) else { return }
    frontStartsKeyframe = false
    nack.expectEarlier((sequence + 1)..<before, now: arrival)
  }

  /// Notes where keyframes begin, and at the very beginning requests what a frame's first packet must have had before
  /// it.
  private mutating func noteStart(_ packet: RTPPacket, at sequence: Int64, arrival: MonotonicInstant) {
    guard kind == .video, packet.payload.readableBytes > 0 else { return }
    if let size = VP8Receiver.keyframeStart(in: packet.payload) {
      videoSize = size
      lastKeyframeStart = max(lastKeyframeStart ?? sequence, sequence)
      if sequence == buffer.next { frontStartsKeyframe = true }
    }
    guard holdsUntil != nil, sequence == buffer.next, nack.configuration.asks,
      !VP8Receiver.startsFrame(packet.payload)
    else { return }
    let earliest = max(sequence - Self.searchStep, first - Self.maximumSearch)
    if earliest < sequence { nack.expectEarlier(earliest..<sequence, now: arrival) }
  }
}
