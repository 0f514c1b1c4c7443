internal import NIOCore
internal import RTP

/// Takes out what a packet carries, and fills it up with padding (RFC 3550, 5.1).
struct PaddingOnly: PacketAlteration {
  mutating func change(_ packet: inout RTPPacket, clockRate: Int32) {
    packet.paddingLength = UInt8(clamping: max(1, packet.payload.readableBytes))
    packet.payload.clear()
    packet.marker = false
  }
}
