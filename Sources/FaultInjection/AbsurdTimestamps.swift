internal import NIOCore
internal import PeerEngine

/// Gives the packets of some intervals impossible timestamps. The change depends only on a packet's own timestamp, so a
/// retransmission has the same timestamp as the original.
struct AbsurdTimestamps: RTPInterceptor {
  /// The first timestamp of each track, by clock rate, which differs between audio and video.
  private var first: [Int32: UInt32] = [:]

  private static let hour: UInt32 = 3_600

  mutating func send(_ packet: inout OutgoingRTPPacket) {
    let clockRate = packet.clockRate
    let zero = first[clockRate] ?? packet.timestamp
    first[clockRate] = zero
    let ticks = Int32(bitPattern: packet.timestamp &- zero)
    let rate = UInt32(clockRate)
    // Only the first tenth of a second is altered.
    guard ticks >= 0, ticks % clockRate < clockRate / 10 else { return }
    switch ticks / clockRate % 6 {
    case 2: packet.timestamp &+= Self.hour &* rate
    case 4: packet.timestamp &-= Self.hour &* rate
    case 0 where ticks >= clockRate: packet.timestamp &+= 1 << 31
    default: break
    }
  }
}

/// Removes each packet's payload and replaces it with padding (RFC 3550, 5.1).
struct PaddingOnly: RTPInterceptor {
  mutating func send(_ packet: inout OutgoingRTPPacket) {
    packet.paddingLength = UInt8(clamping: max(1, packet.payload.readableBytes))
    packet.payload.clear()
    packet.marker = false
  }
}
