import Bitstream
package import NIOCore

/// Splits H.265 frames into RTP payloads (RFC 7798, 4.4): parameter sets and SEI together (AP), a slice segment that is too large in
/// fragments of about equal size (FU), every other NAL unit alone. Without decoding order numbers (DONL).
package struct H265Packetizer: Sendable, Hashable {
  private let units: NALUnitPacketizer<H265PayloadFormat>

  /// - Parameter maximumPayloadSize: in bytes; smaller values than 16 are raised to 16.
  package init(maximumPayloadSize: Int) {
    units = NALUnitPacketizer(maximumPayloadSize: max(16, maximumPayloadSize), aggregates: true)
  }

  /// The maximum payload size in bytes.
  package var maximumPayloadSize: Int { units.maximumPayloadSize }

  /// Returns the payloads of one frame, in order. The packet of the last one has the marker bit.
  ///
  /// - Parameter frame: NAL units, each after its length in 4 bytes; units of a type above 47 are left out.
  package func packetize(frame: ByteBuffer) -> [ByteBuffer] { units.packetize(NALUnits(frame)) }
}

private enum H265PayloadFormat: NALUnitPayloadFormat {
  static var headerSize: Int { H265NALUnit.headerSize }

  static func isSlice(_ unit: ByteBuffer) -> Bool? {
    guard let unit = H265NALUnit(unit), unit.type.isSent, unit.isValid else { return nil }
    return unit.type.isSlice
  }

  /// The lowest layer and temporal sub-layer of the units (RFC 7798, 4.4.2).
  static func writeAggregationHeader(of units: [ByteBuffer], to payload: inout ByteBuffer) {
    let parsed = units.compactMap(H265NALUnit.init)
    let layer = parsed.map(\.layerID).min() ?? 0
    let temporal = parsed.map(\.temporalIDPlus1).min() ?? 1
    payload.writeInteger(UInt16(H265Payload.aggregationType) << 9 | UInt16(layer) << 3 | UInt16(temporal))
  }

  static func writeFragmentHeader(of header: ByteBuffer, isFirst: Bool, isLast: Bool, to payload: inout ByteBuffer) {
    let header = header.getInteger(at: header.readerIndex, as: UInt16.self) ?? 0
    payload.writeMultipleIntegers(
      header & 0x81FF | UInt16(H265Payload.fragmentType) << 9,
      H265NALUnit.Kind(header: header).rawValue | (isFirst ? 0x80 : 0) | (isLast ? 0x40 : 0))
  }
}
