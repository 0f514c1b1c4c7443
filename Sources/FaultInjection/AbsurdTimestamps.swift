internal import NIOCore
internal import PeerEngine
internal import RTP

/// Gives the packets of some moments timestamps that cannot be. It depends on a packet's own timestamp alone, so one that is
/// sent again has the same as before.
struct AbsurdTimestamps: PacketAlteration {
  /// The first timestamp of each track, by its clock rate: audio and video differ in it.
  private var first: [Int32: UInt32] = [:]

  private static let hour: UInt32 = 3_600

  mutating func change(_ packet: inout RTPPacket, clockRate: Int32) {
    let zero = first[clockRate] ?? packet.timestamp
    first[clockRate] = zero
    let ticks = Int32(bitPattern: packet.timestamp &- zero)
    let rate = UInt32(clockRate)
    // The first tenth of a second.
    guard ticks >= 0, ticks % clockRate < clockRate / 10 else { return }
    switch ticks / clockRate % 6 {
    case 2: packet.timestamp &+= Self.hour &* rate
    case 4: packet.timestamp &-= Self.hour &* rate
    case 0 where ticks >= clockRate: packet.timestamp &+= 1 << 31
    default: break
    }
  }
}

/// Takes out what a packet carries, and fills it up with padding (RFC 3550, 5.1).
struct PaddingOnly: PacketAlteration {
  mutating func change(_ packet: inout RTPPacket, clockRate: Int32) {
    packet.paddingLength = UInt8(clamping: max(1, packet.payload.readableBytes))
    packet.payload.clear()
    packet.marker = false
  }
}
