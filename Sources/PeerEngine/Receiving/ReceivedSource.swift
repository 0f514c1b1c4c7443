package import Media
import NIOCore
package import RTP

/// The packets of one source: reorders them, requests missing ones and finally skips gaps.
///
/// The first packets are buffered for a moment, because the first packet to arrive need not be the first one sent; video
/// until the start of a keyframe is in front, since nothing before it could be decoded.
///
/// Memory is bounded: behind gaps wait at most ``ReceiveTrack/Configuration/reorderingCapacity(_:)`` packets and, apart
/// from the last packet, ``ReceiveTrack/Configuration/waitingBytes`` of their payload. Beyond these limits, the gaps in
/// front are given up.
package struct ReceivedSource: Sendable {
  /// The next item in order.
  package enum Item: Sendable {
    case packet(ReceivedPacket)
    /// A number of packets that were given up.
    case lost(Int)
  }

  /// The result of receiving a packet.
  package enum Reception: Sendable, Hashable {
    /// It is buffered, or due.
    case accepted
    /// It is a duplicate, or arrived after it was given up.
    case useless
    /// The source has restarted its sequence numbers: create a new one and pass it the packets in
    /// ``restartCandidates``.
    case restarted
  }

  /// A sender report's two clocks.
  package struct Report: Sendable {
    package var timestamp: UInt32
    package var time: NTPTime
    package var arrival: MonotonicInstant
  }

  /// A jump of sequence numbers by more than this is treated as a restart, once a second packet near the first one confirms
  /// it (RFC 3550, A.1).
  private static let maximumJump: Int64 = 8_192
  /// How far before the first packet earlier ones are requested, and how far ahead of the newest a retransmission may be.
  private static let maximumSearch: Int64 = 64
  private static let searchStep: Int64 = 8
  private static let rememberedLosses = 256
  /// How many packets of a suspected restart may arrive before two of them are near each other.
  private static let maximumRestartCandidates = 16

  package let ssrc: UInt32
  package let kind: MediaKind
  private let codec: Codec
  private let clockRate: Int32
  package let configuration: ReceiveTrack.Configuration
  /// The simulcast stream's rid, if it has one.
  package var streamID: String?
  package var reporter: ReceptionReporter
  package private(set) var nack: NackGenerator
  package private(set) var lastArrival: MonotonicInstant
  package var lastReport: Report?
  /// The id of the dependency descriptor; nil if the codec's reader does not need it, or if it was not negotiated.
  private let dependencyDescriptorID: UInt8?
  /// The id of the orientation of video; nil if it was not negotiated.
  private let orientationID: UInt8?
  /// The size in the last keyframe that began.
  package private(set) var videoSize: VideoSize?

  // Stored, because each packet needs them: to compute them, Swift would copy the whole value first.
  /// When ``next(now:)`` or ``requests(roundTrip:now:)`` may return something; nil while no packet is missing.
  package private(set) var deadline: MonotonicInstant?
  /// The payload bytes that are buffered.
  package private(set) var waitingBytes = 0
  /// Whether a keyframe has begun whose start has not been emitted yet.
  package private(set) var keyframeIsComing = false
  /// When to request a keyframe in addition to NACKs: the oldest gap not followed by a keyframe reaches
  /// `keyframeDelay`.
  package private(set) var keyframeIsDue: MonotonicInstant?
  /// When the gap in front, for which all later packets wait, will be so old that it must be reported; nil if there is
  /// none.
  package private(set) var recoveryIsSlow: MonotonicInstant?

  private var buffer: ReorderBuffer<ReceivedPacket>
  private var unwrapper = SequenceNumberUnwrapper()
  private var highest: Int64
  private var first: Int64
  private var holdsUntil: MonotonicInstant?
  private var frontStartsKeyframe = false
  private var lastKeyframeStart: Int64?
  /// The timestamp of the keyframe that began last.
  private var keyframeTimestamp: UInt32?
  /// Packets far away from all others, in order of arrival.
  package private(set) var restartCandidates: [RTPPacket] = []
  /// A packet for which the buffer must first give up those that are due.
  private var overflow: (sequence: Int64, packet: ReceivedPacket)?
  /// The sequence number that was due when the first packet was emitted.
  private var firstDue: Int64?
  /// Whether the gap before the next packet is skipped at once, because its packets were discarded.
  private var skipsNextGap = false
  /// Recently given up packets: one that still arrives was not lost.
  private var recentlyLost: [Int64] = []

  /// - Parameters:
  ///   - packet: the first packet to arrive; pass it to ``receive(_:isRetransmission:arrival:statistics:)`` next.
  ///   - supportsNack: whether the sender answers NACKs.
  ///   - dependencyDescriptorID: the id of the negotiated header extension; `orientationID`, that of the orientation of video.
  package init(
    first packet: RTPPacket, codec: Codec, supportsNack: Bool, dependencyDescriptorID: UInt8? = nil,
    orientationID: UInt8? = nil, configuration: ReceiveTrack.Configuration, arrival: MonotonicInstant
  ) {
    self.orientationID = orientationID
    self.dependencyDescriptorID = PayloadReader.usesDependencyDescriptor(codec) ? dependencyDescriptorID : nil
    ssrc = packet.ssrc
    self.codec = codec
    kind = codec.kind
    clockRate = codec.clockRate
    self.configuration = configuration
    reporter = ReceptionReporter(ssrc: packet.ssrc, clockRate: codec.clockRate)
    nack = NackGenerator(configuration: configuration.nack(codec.kind, supportsNack: supportsNack))
    lastArrival = arrival
    let sequence = Int64(packet.sequenceNumber)
    highest = sequence
    first = sequence
    buffer = ReorderBuffer(first: sequence, capacity: configuration.reorderingCapacity(kind))
    holdsUntil = arrival + configuration.startDelay
  }

  /// Whether no packet with a higher sequence number has arrived.
  package func isNewest(_ packet: RTPPacket) -> Bool {
    Int16(truncatingIfNeeded: Int64(packet.sequenceNumber) &- highest) > 0
  }

  /// Handles a packet of a source that is not selected, only for its liveness and size.
  package mutating func observe(_ packet: RTPPacket, arrival: MonotonicInstant) {
    lastArrival = arrival
    count(packet, at: unwrapper.unwrap(packet.sequenceNumber), arrival: arrival)
    if let size = PayloadReader.keyframeStart(in: packet.payload, of: codec)?.size { videoSize = size }
  }

  /// Handles a packet.
  ///
  /// - Parameter isRetransmission: whether it arrived in an RTX stream (RFC 4588); for the statistics.
  /// - Returns: The result, with a sample of the round-trip time if the packet answers the only request for it.
  package mutating func receive(
    _ packet: RTPPacket, isRetransmission: Bool, arrival: MonotonicInstant, statistics: inout TrackStatistics
  ) -> (reception: Reception, roundTrip: Duration?) {
    let sequence = unwrapper.position(of: packet.sequenceNumber)
    if !isRetransmission {
      lastArrival = arrival
      if abs(sequence - highest) > Self.maximumJump, !skipsNextGap { return (handlePossibleRestart(packet), nil) }
      if skipsNextGap, sequence > highest { reporter = ReceptionReporter(ssrc: ssrc, clockRate: clockRate) }
      if !restartCandidates.isEmpty { restartCandidates.removeAll() }
      if sequence >= highest { _ = unwrapper.unwrap(packet.sequenceNumber) }
      count(packet, at: sequence, arrival: arrival)
    } else if sequence - highest > Self.maximumSearch {
      return (.useless, nil)
    }
    highest = max(highest, sequence)
    if holdsUntil != nil, sequence < buffer.next { lookBack(to: sequence, arrival: arrival) }
    let arrived = nack.arrived(sequence, now: arrival)
    if skipsNextGap, !isRetransmission, arrived == .newest {
      skipsNextGap = false
      nack.giveUp(below: sequence)
    }
    var waiting = ReceivedPacket(
      payload: packet.payload, timestamp: packet.timestamp, marker: packet.marker, arrival: arrival)
    if case .filled(let requests, _, let sinceMissed) = arrived, requests > 0 { waiting.delay = sinceMissed }
    if let dependencyDescriptorID, let value = packet.extensions[dependencyDescriptorID] {
      waiting.dependencyDescriptor = Array(value.readableBytesView)
    }
    if let orientationID, let stated = packet.extensions.videoOrientation(orientationID) {
      waiting.orientation = VideoOrientation(quarterTurns: stated.quarterTurns, isMirrored: stated.isFlipped)
    }
    var insertion = buffer.insert(waiting, at: sequence)
    if insertion == .beyond {
      // The packets that are due before can no longer be waited for; `next` emits or skips them.
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

  /// How many of the source's sequence numbers are settled: emitted or given up.
  package var settled: UInt64 {
    mutating get { firstDue.map { UInt64(clamping: buffer.next - $0) } ?? 0 }
  }

  /// How many packets are buffered.
  package var waitingPackets: Int { buffer.count + (overflow == nil ? 0 : 1) }

  /// Removes and returns the next item in order, or nil while it is waited for. Call it until it returns nil after each
  /// packet and each deadline.
  package mutating func next(now: MonotonicInstant) -> Item? {
    let item = takeNext(now: now)
    // Packets are removed until there is none, so this runs once for each packet that arrives.
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

  /// Notes that packets were discarded for a while and are received again: the missing ones are not requested, and are
  /// not reported to the sender as lost.
  mutating func willResume(now: MonotonicInstant) {
    lastArrival = now
    skipsNextGap = true
  }

  /// Ends the initial buffering.
  private mutating func begin() {
    guard holdsUntil != nil else { return }
    holdsUntil = nil
    firstDue = buffer.next
  }

  /// Returns the sequence numbers to request now.
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

  /// Stops waiting for packets: ``next(now:)`` then returns everything that is buffered.
  package mutating func giveUpAll() {
    begin()
    nack.giveUp(below: .max)
  }

  private mutating func handlePossibleRestart(_ packet: RTPPacket) -> Reception {
    let isConfirmed = restartCandidates.contains { candidate in
      let distance = Int16(bitPattern: packet.sequenceNumber &- candidate.sequenceNumber)
      return distance != 0 && distance.magnitude <= UInt16(Self.maximumSearch)
    }
    if restartCandidates.count >= Self.maximumRestartCandidates { restartCandidates.removeFirst() }
    restartCandidates.append(packet)
    return isConfirmed ? .restarted : .useless
  }

  private mutating func count(_ packet: RTPPacket, at sequence: Int64, arrival: MonotonicInstant) {
    reporter.received(sequence: sequence, timestamp: packet.timestamp, arrival: arrival)
  }

  /// Makes an earlier packet the first one, if none has been emitted yet.
  private mutating func lookBack(to sequence: Int64, arrival: MonotonicInstant) {
    let before = buffer.next
    guard first - sequence <= Self.maximumSearch, buffer.moveBack(to: sequence) else { return }
    frontStartsKeyframe = false
    nack.expectEarlier((sequence + 1)..<before, now: arrival)
  }

  /// Notes where keyframes begin, and at the very beginning requests the packets that must precede one in the middle of a
  /// frame.
  private mutating func noteStart(_ packet: RTPPacket, at sequence: Int64, arrival: MonotonicInstant) {
    guard kind == .video, packet.payload.readableBytes > 0 else { return }
    if let start = PayloadReader.keyframeStart(in: packet.payload, of: codec) {
      if let size = start.size { videoSize = size }
      // A keyframe of H.264 can be known from several packets: its parameter sets and its first slice.
      let isSame = packet.timestamp == keyframeTimestamp
      lastKeyframeStart =
        isSame ? min(lastKeyframeStart ?? sequence, sequence) : max(lastKeyframeStart ?? sequence, sequence)
      keyframeTimestamp = packet.timestamp
      // Before a slice, parameter sets may still be on their way.
      if sequence == buffer.next, start.isFirst { frontStartsKeyframe = true }
    }
    guard holdsUntil != nil, sequence == buffer.next, nack.configuration.supportsNack,
      !PayloadReader.startsFrame(packet.payload, of: codec)
    else { return }
    let earliest = max(sequence - Self.searchStep, first - Self.maximumSearch)
    if earliest < sequence { nack.expectEarlier(earliest..<sequence, now: arrival) }
  }
}
