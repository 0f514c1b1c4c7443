import CChecksums

/// The checksum of SCTP packets (RFC 9260, 6.8 and appendix A): CRC32c, computed by the processor where it can.
package struct CRC32c: Sendable, Hashable {
  private var state: UInt32 = 0xFFFF_FFFF

  package init() {}

  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    state = cchecksums_crc32c(state, bytes.baseAddress, bytes.count)
  }

  /// Adds the four zero bytes that stand for the checksum field.
  mutating func updateWithZeros() {
    withUnsafeBytes(of: UInt32(0)) { update($0) }
  }

  /// The checksum of the bytes so far. SCTP transmits it with the least significant byte first.
  package var value: UInt32 { ~state }

  /// Returns the checksum of a packet whose checksum field, bytes 8 to 11, counts as zero.
  static func ofPacket(_ packet: UnsafeRawBufferPointer) -> UInt32 {
    guard packet.count >= SCTPPacket.headerLength else { return 0 }
    var checksum = CRC32c()
    checksum.update(UnsafeRawBufferPointer(rebasing: packet[..<8]))
    checksum.updateWithZeros()
    checksum.update(UnsafeRawBufferPointer(rebasing: packet[SCTPPacket.headerLength...]))
    return checksum.value
  }
}
