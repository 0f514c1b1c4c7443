/// An encoded frame, a packet of audio, or the text of a subtitle.
package struct EncodedPacket: Sendable, Hashable {
  /// The index of the track in a container; 0 from an encoder.
  package var track: Int
  /// When it is shown and when it is decoded, in the units of its track: frames of a composition, samples of audio. Either can be
  /// negative: a decoder needs a frame before the first one is shown, and an encoder of audio begins with what is not heard.
  package var pts: Int64
  package var dts: Int64
  /// 0 if it is not known.
  package var duration: Int64
  package var isKeyframe: Bool
  /// The decoded samples of each channel at the end that are not heard.
  package var skipAtEnd: Int
  package var bytes: [UInt8]

  package init(
    track: Int = 0, pts: Int64, dts: Int64, duration: Int64, isKeyframe: Bool, skipAtEnd: Int = 0, bytes: [UInt8]
  ) {
    self.track = track
    self.pts = pts
    self.dts = dts
    self.duration = duration
    self.isKeyframe = isKeyframe
    self.skipAtEnd = skipAtEnd
    self.bytes = bytes
  }
}

/// Packets in shared memory, one after the other: a header of ``headerBytes``, then the bytes.
package enum PacketBatch {
  package static let headerBytes = 40

  /// Writes a packet.
  ///
  /// - Parameters:
  ///   - packet: its own bytes are not used.
  ///   - bytes: those of the packet.
  ///   - offset: where the header begins; behind the packet afterwards.
  /// - Returns: false if there is no room; then nothing is written.
  package static func write(
    _ packet: EncodedPacket, _ bytes: UnsafeRawBufferPointer, to memory: UnsafeMutableRawBufferPointer,
    at offset: inout Int
  ) -> Bool {
    guard offset >= 0, offset <= memory.count, memory.count - offset >= headerBytes + bytes.count else { return false }
    var writer = MessageWriter()
    writer.number(packet.track)
    writer.number(packet.isKeyframe ? 1 : 0 as Int)
    writer.number(bytes.count)
    writer.number(packet.skipAtEnd)
    writer.time(packet.pts)
    writer.time(packet.dts)
    writer.time(packet.duration)
    UnsafeMutableRawBufferPointer(rebasing: memory[offset..<offset + headerBytes]).copyBytes(from: writer.bytes)
    let start = offset + headerBytes
    UnsafeMutableRawBufferPointer(rebasing: memory[start..<start + bytes.count]).copyMemory(from: bytes)
    offset = start + bytes.count
    return true
  }

  /// Reads packets. Another process can change the memory at any moment, so each byte is read once.
  ///
  /// - Parameter count: the number of packets.
  package static func read(
    _ count: Int, from memory: UnsafeRawBufferPointer
  ) throws(MessageError) -> [EncodedPacket] {
    guard count <= memory.count / headerBytes else { throw MessageError("the packets are cut off") }
    var reader = BulkReader(memory)
    var packets: [EncodedPacket] = []
    packets.reserveCapacity(count)
    for _ in 0..<count {
      let track = try reader.number(upTo: MediaLimits.tracks - 1)
      let isKeyframe = try reader.number(upTo: 1) == 1
      let size = try reader.number(upTo: MediaLimits.packetBytes)
      let skipAtEnd = try reader.number(upTo: MediaLimits.samples)
      let (pts, dts) = (try reader.time().boundedTime, try reader.time().boundedTime)
      let duration = try reader.time().boundedDuration
      packets.append(
        EncodedPacket(
          track: track, pts: pts, dts: dts, duration: duration, isKeyframe: isKeyframe, skipAtEnd: skipAtEnd,
          bytes: try reader.bytes(size)))
    }
    return packets
  }
}

extension MediaLimits {
  /// The maximum size of a packet of a composition: one of 3840x2160 at the highest quality.
  package static let packetBytes = (8 << 20) - (64 << 10)
}
