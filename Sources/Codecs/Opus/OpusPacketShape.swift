import COpus
package import NIOCore

/// What an Opus packet says of itself without being decoded (RFC 6716, 3.1 and 3.2).
package struct OpusPacketShape: Sendable, Hashable {
  /// 1 or 2: what the packet's table of contents says.
  package let channels: Int
  /// How many frames are in it: 1 to 48.
  package let frames: Int
  /// How long it plays, in ticks of 48 kHz: 120 (2.5 ms) to 5,760 (120 ms).
  package let duration: Int
  /// The coding mode, bandwidth and frame size: 0 to 31 (RFC 6716, table 2).
  package let configuration: UInt8
  /// Whether it carries no sound at all: every frame is empty (RFC 6716, 3.2.1; discontinuous transmission).
  package let isSilent: Bool

  /// Reads the table of contents and checks all frame lengths.
  package init(parsing packet: ByteBuffer) throws(CodecFailure) {
    let action = "read an Opus packet of \(packet.readableBytes) bytes"
    guard let first = packet.getInteger(at: packet.readerIndex, as: UInt8.self) else {
      throw CodecFailure(action, "it is empty")
    }
    var frames: Int32 = 0
    var samples: Int32 = 0
    var isSilent = false
    packet.withUnsafeReadableBytes { bytes in
      guard let start = bytes.bindMemory(to: UInt8.self).baseAddress else { return }
      let count = opus_int32(clamping: bytes.count)
      samples = opus_packet_get_nb_samples(start, count, 48_000)
      withUnsafeTemporaryAllocation(of: Int16.self, capacity: 48) { sizes in
        guard let firstSize = sizes.baseAddress else { return }
        frames = opus_packet_parse(start, count, nil, nil, firstSize, nil)
        isSilent = sizes.prefix(max(0, Int(frames))).allSatisfy { $0 == 0 }
      }
    }
    if frames < 0 { throw CodecFailure(action, opus: frames) }
    if samples < 0 { throw CodecFailure(action, opus: samples) }
    self.channels = first & 0b100 == 0 ? 1 : 2
    self.frames = Int(frames)
    self.duration = Int(samples)
    self.configuration = first >> 3
    self.isSilent = isSilent
  }
}
