import Media
import NIOCore
import RTP

/// The copies of audio in packets of RED (RFC 2198) that may have to take the place of missing packets.
///
/// A copy has a timestamp, but no sequence number. It is used when the packets between two others were given up: if its timestamp is
/// between theirs, and its audio fits between theirs, its frame did not arrive. If there are more such copies than missing packets,
/// they cannot be trusted, and none is used.
struct RedundantCopies: Sendable {
  /// A copy of a frame.
  struct Copy: Sendable {
    var timestamp: UInt32
    var payload: ByteBuffer
    /// When the packet arrived that brought it.
    var arrival: MonotonicInstant
  }

  /// The maximum number of copies that wait: more than those of all packets that can wait behind a gap in a usual call.
  static let maximumCount = 512

  /// In the order of arrival, each timestamp once.
  private var copies: [Copy] = []
  /// The timestamp of the last packet of audio in order; nil before the first.
  private var last: UInt32?
  /// The duration of the last frame in ticks.
  var lastDuration = 0
  /// The number of packets given up since that packet.
  private(set) var lost = 0

  /// Keeps the copies in a packet whose frames have not been passed on.
  ///
  /// - Parameter timestamp: that of the packet.
  mutating func add(_ audio: RedundantAudio, timestamp: UInt32, arrival: MonotonicInstant) {
    for copy in audio.copies where copy.payloadType == audio.payloadType && copy.payload.readableBytes > 0 {
      let time = timestamp &- copy.offset
      guard copy.offset > 0, last.map({ Self.distance(from: $0, to: time) > 0 }) ?? true,
        !copies.contains(where: { $0.timestamp == time })
      else { continue }
      if copies.count >= Self.maximumCount { copies.removeFirst() }
      copies.append(Copy(timestamp: time, payload: ByteBuffer(bytes: copy.payload.readableBytesView), arrival: arrival))
    }
  }

  mutating func packetsWereLost(_ count: Int) { lost += count }

  /// Advances to the next packet in order.
  ///
  /// - Returns: the copies that take the place of packets before it, by their timestamps, each with the number of packets that are
  ///   missing before it; and the number that is missing before the packet itself.
  mutating func advance(to timestamp: UInt32, _ codec: Codec) -> (
    repaired: [(copy: Copy, lostBefore: Int)], lostBefore: Int
  ) {
    defer {
      last = timestamp
      lost = 0
      if !copies.isEmpty { copies.removeAll { Self.distance(from: timestamp, to: $0.timestamp) <= 0 } }
    }
    guard lost > 0, let last else { return ([], lost) }
    let found = fitting(after: last, before: timestamp, codec)
    guard found.count <= lost else { return ([], lost) }
    // What is still missing was where the frames do not follow each other.
    var rest = lost - found.count
    var end = last &+ UInt32(clamping: lastDuration)
    var repaired: [(copy: Copy, lostBefore: Int)] = []
    for (copy, duration) in found {
      let missing = copy.timestamp == end ? 0 : rest
      rest -= missing
      repaired.append((copy, missing))
      end = copy.timestamp &+ duration
    }
    return (repaired, rest)
  }

  /// Returns the copies whose audio fits between two packets and after each other, with their durations in ticks.
  private func fitting(after last: UInt32, before next: UInt32, _ codec: Codec) -> [(copy: Copy, duration: UInt32)] {
    let between = copies.filter {
      Self.distance(from: last, to: $0.timestamp) > 0 && Self.distance(from: $0.timestamp, to: next) > 0
    }.sorted { Self.distance(from: last, to: $0.timestamp) < Self.distance(from: last, to: $1.timestamp) }
    var end = last &+ UInt32(clamping: lastDuration)
    var fitting: [(copy: Copy, duration: UInt32)] = []
    for copy in between where Self.distance(from: end, to: copy.timestamp) >= 0 {
      let header = FrameHeader(parsing: copy.payload, of: codec)
      guard let ticks = FrameHeader.ticks(of: copy.payload, codec, header: header) else { continue }
      let duration = UInt32(clamping: ticks)
      guard Self.distance(from: copy.timestamp &+ duration, to: next) >= 0 else { continue }
      fitting.append((copy, duration))
      end = copy.timestamp &+ duration
    }
    return fitting
  }

  /// How many ticks after another one a timestamp is; negative if it is before.
  private static func distance(from one: UInt32, to other: UInt32) -> Int32 { Int32(bitPattern: other &- one) }
}

/// Packets of RED.
extension ReceiveTrack {
  /// Handles a packet of RED: its own audio is received as that of any packet, and the copies are kept. One that cannot be read is
  /// missing.
  mutating func receiveRedundant(
    _ packet: RTPPacket, route: StreamRouter.Route, now: MonotonicInstant, events: inout [MediaEvent]
  ) -> Duration? {
    guard let audio = try? RedundantAudio(parsing: packet.payload), audio.payloadType == route.payloadType else {
      return nil
    }
    if selected == nil || packet.ssrc == selected {
      var copies = redundancy ?? RedundantCopies()
      redundancy = nil
      copies.add(audio, timestamp: packet.timestamp, arrival: now)
      redundancy = copies
    }
    var packet = packet
    packet.payload = audio.payload
    var route = route
    route.isRedundant = false
    return receive(packet, route: route, now: now, events: &events)
  }

  /// Passes on the copies of packets that are missing before the next one.
  mutating func repair(before packet: ReceivedPacket, now: MonotonicInstant, events: inout [MediaEvent]) {
    guard packet.payload.readableBytes > 0,
      let (repaired, lostBefore) = redundancy?.advance(to: packet.timestamp, format.codec)
    else { return }
    for (copy, lostBefore) in repaired {
      if lostBefore > 0 { gaps.packetsWereLost(lostBefore) }
      statistics.repairedByRedundancy += 1
      reader.add(
        ReceivedPacket(payload: copy.payload, timestamp: copy.timestamp, marker: false, arrival: copy.arrival))
      takeFrames(now: now, events: &events)
    }
    if lostBefore > 0 { gaps.packetsWereLost(lostBefore) }
  }
}
