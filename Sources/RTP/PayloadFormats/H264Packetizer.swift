import Bitstream
package import NIOCore

/// Splits H.264 frames into RTP payloads (RFC 6184, 5.2): parameter sets and SEI together (STAP-A), a slice that is too large in
/// fragments of about equal size (FU-A), every other NAL unit alone.
package struct H264Packetizer: Sendable, Hashable {
  private let units: NALUnitPacketizer<H264PayloadFormat>

  /// - Parameters:
  ///   - maximumPayloadSize: in bytes; smaller values than 16 are raised to 16.
  ///   - aggregates: whether several NAL units may share a payload: not in packetization mode 0 (6.2).
  package init(maximumPayloadSize: Int, aggregates: Bool = true) {
    units = NALUnitPacketizer(maximumPayloadSize: max(16, maximumPayloadSize), aggregates: aggregates)
  }

  /// The maximum payload size in bytes.
  package var maximumPayloadSize: Int { units.maximumPayloadSize }

  /// Returns the payloads of one frame, in order. The packet of the last one has the marker bit.
  ///
  /// A NAL unit too large for a payload is fragmented in mode 0 as well: a receiver that cannot read that loses the frame, which it
  /// would lose in any case.
  ///
  /// - Parameter frame: NAL units, each after its length in 4 bytes; units of a type above 23 are left out.
  package func packetize(frame: ByteBuffer) -> [ByteBuffer] { units.packetize(NALUnits(frame)) }
}

private enum H264PayloadFormat: NALUnitPayloadFormat {
  static var headerSize: Int { 1 }

  static func isSlice(_ unit: ByteBuffer) -> Bool? {
    guard let unit = H264NALUnit(unit), (1...23).contains(unit.type.rawValue), unit.isValid else { return nil }
    return unit.type.isSlice
  }

  static func writeAggregationHeader(of units: [ByteBuffer], to payload: inout ByteBuffer) {
    let importance = units.map { H264NALUnit($0)?.referenceIDC ?? 0 }.max() ?? 0
    payload.writeInteger(importance << 5 | H264Payload.aggregationType)
  }

  static func writeFragmentHeader(of header: ByteBuffer, isFirst: Bool, isLast: Bool, to payload: inout ByteBuffer) {
    let header = header.getInteger(at: header.readerIndex, as: UInt8.self) ?? 0
    payload.writeMultipleIntegers(
      header & 0xE0 | H264Payload.fragmentType, header & 0x1F | (isFirst ? 0x80 : 0) | (isLast ? 0x40 : 0))
  }
}
