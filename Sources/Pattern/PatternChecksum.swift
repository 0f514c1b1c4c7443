/// The checksum of zip, PNG and Ethernet: CRC-32 with the reflected polynomial 0xEDB88320 (ISO 3309).
enum PatternChecksum {
  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
  }

  static func of(_ bytes: some Sequence<UInt8>) -> UInt32 {
    ~bytes.reduce(0xFFFF_FFFF) { sum, byte in sum >> 8 ^ table[Int((sum ^ UInt32(byte)) & 0xFF)] }
  }
}
