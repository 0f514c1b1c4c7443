import Bitstream
package import NIOCore

/// Splits H.264 frames into RTP payloads (RFC 6184, 5.2): parameter sets and SEI together (STAP-A), a slice that is too large in
/// fragments of about equal size (FU-A), every other NAL unit alone.
package struct H264Packetizer: Sendable, Hashable {
  /// The maximum payload size in bytes.
  package let maximumPayloadSize: Int
  /// Whether several NAL units may share a payload: not in packetization mode 0 (6.2).
  package let aggregates: Bool

  /// - Parameter maximumPayloadSize: in bytes; smaller values than 16 are raised to 16.
  package init(maximumPayloadSize: Int, aggregates: Bool = true) {
    self.maximumPayloadSize = max(16, maximumPayloadSize)
    self.aggregates = aggregates
  }

  /// Returns the payloads of one frame, in order. The packet of the last one has the marker bit.
  ///
  /// A NAL unit too large for a payload is fragmented in mode 0 as well: a receiver that cannot read that loses the frame, which it
  /// would lose in any case.
  ///
  /// - Parameter frame: NAL units, each after its length in 4 bytes; units of a type above 23 are left out.
  package func packetize(frame: ByteBuffer) -> [ByteBuffer] {
    var payloads: [ByteBuffer] = []
    var gathered: [H264NALUnit] = []
    var gatheredSize = 1
    for unit in H264NALUnits(frame) where (1...23).contains(unit.type.rawValue) && unit.isValid {
      let size = 2 + unit.bytes.readableBytes
      if aggregates, !unit.type.isSlice, size < maximumPayloadSize {
        if gatheredSize + size > maximumPayloadSize { Self.flush(&gathered, &gatheredSize, into: &payloads) }
        gathered.append(unit)
        gatheredSize += size
        continue
      }
      Self.flush(&gathered, &gatheredSize, into: &payloads)
      if unit.bytes.readableBytes <= maximumPayloadSize {
        payloads.append(unit.bytes)
      } else {
        fragment(unit.bytes, into: &payloads)
      }
    }
    Self.flush(&gathered, &gatheredSize, into: &payloads)
    return payloads
  }

  /// Writes the gathered units as one payload.
  private static func flush(_ units: inout [H264NALUnit], _ size: inout Int, into payloads: inout [ByteBuffer]) {
    defer {
      units = []
      size = 1
    }
    guard units.count > 1 else { return payloads.append(contentsOf: units.map(\.bytes)) }
    var payload = ByteBuffer()
    payload.reserveCapacity(size)
    payload.writeInteger((units.map(\.referenceIDC).max() ?? 0) << 5 | H264Payload.aggregationType)
    for unit in units {
      payload.writeInteger(UInt16(clamping: unit.bytes.readableBytes))
      payload.writeImmutableBuffer(unit.bytes)
    }
    payloads.append(payload)
  }

  private func fragment(_ unit: ByteBuffer, into payloads: inout [ByteBuffer]) {
    var rest = unit
    guard let header = rest.readInteger(as: UInt8.self) else { return }
    let room = maximumPayloadSize - 2
    let count = (rest.readableBytes + room - 1) / room
    for remaining in stride(from: count, to: 0, by: -1) {
      guard let part = rest.readSlice(length: rest.readableBytes / remaining) else { break }
      var payload = ByteBuffer()
      payload.reserveCapacity(2 + part.readableBytes)
      payload.writeInteger(header & 0xE0 | H264Payload.fragmentType)
      payload.writeInteger(
        header & 0x1F | (remaining == count ? 0x80 : 0) | (remaining == 1 ? 0x40 : 0))
      payload.writeImmutableBuffer(part)
      payloads.append(payload)
    }
  }
}
