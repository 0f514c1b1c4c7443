import Media
import NIOCore
import RTP

@testable import BotPeer
@testable import NetworkEmulation
@testable import PeerEngine

/// Tracks the fate of the app's packets on their way to the checker by their headers, which are not encrypted. A copy of
/// the checker's impairment is evaluated beside it: the same seed and the same packets give the same fates.
struct RecordedLink {
  /// The packets of one track.
  struct Track {
    /// A packet, possibly sent more than once.
    struct Packet {
      let sequenceNumber: UInt16
      let timestamp: UInt32
      /// Whether it arrived when it was first sent; nil if it never reached the checker's socket.
      var arrivedAtFirst: Bool?
      var arrived = false
    }

    /// In the order of their first transmission.
    fileprivate(set) var packets: [Packet] = []
    private var positions: [UInt16: Int] = [:]

    fileprivate mutating func sends(_ packet: RTPPacket) {
      guard positions[packet.sequenceNumber] == nil else { return }
      positions[packet.sequenceNumber] = packets.count
      packets.append(Packet(sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp))
    }

    fileprivate mutating func received(_ packet: RTPPacket, passes: Bool) {
      guard let position = positions[packet.sequenceNumber] else { return }
      packets[position].arrivedAtFirst = packets[position].arrivedAtFirst ?? passes
      if passes { packets[position].arrived = true }
    }

    /// The number of packets before the last arrived one whose first transmission was lost.
    var lostAtFirst: Int {
      guard let last = packets.lastIndex(where: \.arrived) else { return 0 }
      return packets[...last].count { $0.arrivedAtFirst != true }
    }

    /// Whether all packets of each frame arrived, in sending order.
    var wholeFrames: [Bool] {
      var frames: [(timestamp: UInt32, isWhole: Bool)] = []
      for packet in packets {
        if frames.last?.timestamp != packet.timestamp { frames.append((packet.timestamp, true)) }
        if !packet.arrived { frames[frames.count - 1].isWhole = false }
      }
      return frames.map(\.isWhole)
    }
  }

  private(set) var tracks: [MediaKind: Track] = [.audio: Track(), .video: Track()]
  /// The RTP packets of all SSRCs that the impairment dropped.
  private(set) var lost: UInt64 = 0
  private var kinds: [UInt32: MediaKind] = [:]
  private var shadow: ImpairedDirection?

  init(_ impairment: Impairment?) {
    shadow = impairment.map { ImpairedDirection($0, .receive, number: 0) }
  }

  /// Records a datagram that the app sends.
  mutating func sends(_ datagram: ByteBuffer, _ engine: PeerConnection?) {
    guard let packet = Self.packet(datagram) else { return }
    for track in engine?.media.sending ?? [] { kinds[track.ssrc] = track.media.kind }
    if let kind = kinds[packet.ssrc] { tracks[kind]?.sends(packet) }
  }

  /// Records a datagram that the checker's socket received and the checker processed.
  ///
  /// - Parameter script: When the clock of the impairment's script started.
  mutating func received(_ datagram: ByteBuffer, script: MonotonicInstant?, now: MonotonicInstant) {
    let kind = NetworkStatistics.DatagramKind(PacketKind.of(datagram))
    guard kind == .rtp || kind == .rtcp else { return }
    if let script { shadow?.startClock(now: script) }
    var passes = true
    if case .dropped? = shadow?.fate(bytes: datagram.readableBytes, kind: kind, now: now) { passes = false }
    guard let packet = Self.packet(datagram) else { return }
    if !passes { lost += 1 }
    if let kind = kinds[packet.ssrc] { tracks[kind]?.received(packet, passes: passes) }
  }

  /// Whether a datagram is an original packet of a track, and not a retransmission.
  func isOriginal(_ datagram: ByteBuffer) -> Bool { Self.packet(datagram).map { kinds[$0.ssrc] != nil } ?? false }

  subscript(kind: MediaKind) -> Track { tracks[kind] ?? Track() }

  private static func packet(_ datagram: ByteBuffer) -> RTPPacket? {
    guard PacketKind.of(datagram) == .rtp else { return nil }
    var plain = datagram
    // The padding length is encrypted, so the padding bit is cleared.
    if let first = plain.getInteger(at: plain.readerIndex, as: UInt8.self) {
      plain.setInteger(first & ~0x20, at: plain.readerIndex)
    }
    return try? RTPPacket(parsing: plain)
  }
}
