package import RTP

/// Changes each RTP packet that leaves.
package protocol PacketAlteration: Sendable {
  /// - Parameter clockRate: ticks of the packet's timestamp in a second.
  mutating func change(_ packet: inout RTPPacket, clockRate: Int32)
}
