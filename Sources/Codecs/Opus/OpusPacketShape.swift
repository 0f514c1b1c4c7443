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
  /// Whether it carries a copy, at lower quality, of the frame before its first one (RFC 6716, 2.1.7), so that a lost
  /// packet can be rebuilt from it.
  package let carriesCopy: Bool

  /// Reads the table of contents and checks all frame lengths.
  package init(parsing packet: ByteBuffer) throws(CodecFailure) {
    // Put together only for a failure: each packet of sound is read here.
    var action: String { "read an Opus packet of \(packet.readableBytes) bytes" }
    guard let first = packet.getInteger(at: packet.readerIndex, as: UInt8.self) else {
      throw CodecFailure(action, "it is empty")
    }
    var frames: Int32 = 0
    var samples: Int32 = 0
    var isSilent = false
    var carriesCopy = false
    packet.withUnsafeReadableBytes { bytes in
      guard let start = bytes.bindMemory(to: UInt8.self).baseAddress else { return }
      let count = opus_int32(clamping: bytes.count)
      samples = opus_packet_get_nb_samples(start, count, 48_000)
      var place: UnsafePointer<UInt8>?
      withUnsafeTemporaryAllocation(of: Int16.self, capacity: 48) { sizes in
        guard let firstSize = sizes.baseAddress else { return }
        withUnsafeTemporaryAllocation(of: UnsafePointer<UInt8>?.self, capacity: 48) { places in
          frames = opus_packet_parse(start, count, nil, places.baseAddress, firstSize, nil)
          if frames > 0 { place = places[0] }
        }
        isSilent = sizes.prefix(max(0, Int(frames))).allSatisfy { $0 == 0 }
        if frames > 0, firstSize.pointee > 0, let header = place?.pointee {
          carriesCopy = Self.announcesCopy(header: header, first: first, ticks: Int(samples) / Int(frames))
        }
      }
    }
    if frames < 0 { throw CodecFailure(action, opus: frames) }
    if samples < 0 { throw CodecFailure(action, opus: samples) }
    self.channels = first & 0b100 == 0 ? 1 : 2
    self.frames = Int(frames)
    self.duration = Int(samples)
    self.configuration = first >> 3
    self.isSilent = isSilent
    self.carriesCopy = carriesCopy
  }

  /// Reads the header bits of a frame's SILK layer: for each channel a flag of voice for every 20 ms, and then the one that
  /// announces a copy of the frame before (RFC 6716, 4.2.3). They are coded evenly, so they are plain bits from the top.
  private static func announcesCopy(header: UInt8, first: UInt8, ticks: Int) -> Bool {
    // From configuration 16 on there is no SILK layer.
    if first >> 3 >= 16 { return false }
    let voices = max(1, ticks / 960)
    let middle = header >> (7 - voices) & 1
    let side = first & 0b100 == 0 ? 0 : header >> (6 - 2 * voices) & 1
    return middle | side != 0
  }
}
