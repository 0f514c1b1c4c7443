package import Bitstream
package import NIOCore

/// What an RTP payload of H.265 carries (RFC 7798, 4.4), without decoding order numbers (`sprop-max-don-diff` is 0).
package enum H265Payload: Sendable, Hashable {
  /// One whole NAL unit (4.4.1).
  case unit(H265NALUnit)
  /// Several whole NAL units (AP, 4.4.2).
  case aggregation([H265NALUnit])
  /// A part of a NAL unit (FU, 4.4.3).
  case fragment(Fragment)

  /// A part of a NAL unit.
  package struct Fragment: Sendable, Hashable {
    /// The header of the NAL unit.
    package var header: UInt16
    package var isFirst: Bool
    package var isLast: Bool
    /// The bytes after the header of the NAL unit.
    package var bytes: ByteBuffer

    package init(header: UInt16, isFirst: Bool, isLast: Bool, bytes: ByteBuffer) {
      self.header = header
      self.isFirst = isFirst
      self.isLast = isLast
      self.bytes = bytes
    }

    package var type: H265NALUnit.Kind { H265NALUnit.Kind(header: header) }
    /// nuh_layer_id, 0 to 63.
    package var layerID: UInt8 { UInt8(truncatingIfNeeded: header >> 3) & 0x3F }
  }

  /// nal_unit_type of the structures of this payload format.
  static let aggregationType: UInt8 = 48
  static let fragmentType: UInt8 = 49

  /// Parses a payload. Packets with control information (PACI, type 50) and types that are not defined are errors, as is a NAL unit
  /// that says that it is damaged (the F bit) or has no temporal sub-layer.
  package init(parsing payload: ByteBuffer) throws(ParseError) {
    guard let unit = H265NALUnit(payload) else {
      throw .tooShort("An H.265 payload", needs: H265NALUnit.headerSize, found: payload.readableBytes)
    }
    guard unit.isValid else {
      throw .wrongValue(
        "The first two bytes of an H.265 payload", expected: "without the F bit, and with a TID above 0",
        found: Int(payload.getInteger(at: payload.readerIndex, as: UInt16.self) ?? 0))
    }
    switch unit.type.rawValue {
    case Self.aggregationType:
      self = .aggregation(try Self.units(of: payload))
    case Self.fragmentType:
      self = .fragment(try Self.fragment(payload))
    default:
      guard unit.type.isSent else {
        throw .wrongValue("An H.265 payload's type", expected: "0 to 49", found: Int(unit.type.rawValue))
      }
      self = .unit(unit)
    }
  }

  private static func fragment(_ payload: ByteBuffer) throws(ParseError) -> Fragment {
    let start = payload.readerIndex
    guard let (header, second) = payload.getMultipleIntegers(at: start, as: (UInt16, UInt8).self),
      let bytes = payload.getSlice(at: start + 3, length: payload.readableBytes - 3)
    else { throw .tooShort("A fragment of H.265", needs: 3, found: payload.readableBytes) }
    let type = H265NALUnit.Kind(rawValue: second)
    guard type.isSent else {
      throw .wrongValue("The nal_unit_type of a fragment of H.265", expected: "0 to 47", found: Int(type.rawValue))
    }
    return Fragment(
      header: header & 0x81FF | UInt16(type.rawValue) << 9, isFirst: second & 0x80 != 0, isLast: second & 0x40 != 0,
      bytes: bytes)
  }

  private static func units(of payload: ByteBuffer) throws(ParseError) -> [H265NALUnit] {
    var rest = payload
    rest.moveReaderIndex(forwardBy: H265NALUnit.headerSize)
    var units: [H265NALUnit] = []
    while rest.readableBytes > 0 {
      guard let bytes = rest.readLengthPrefixedSlice(as: UInt16.self), let unit = H265NALUnit(bytes) else {
        throw .tooShort("A NAL unit in an aggregation packet", needs: 4, found: rest.readableBytes)
      }
      guard unit.isValid, unit.type.isSent else {
        throw .wrongValue(
          "A NAL unit's type in an aggregation packet", expected: "0 to 47, of a valid header",
          found: Int(unit.type.rawValue))
      }
      units.append(unit)
    }
    guard !units.isEmpty else { throw .tooShort("An aggregation packet of H.265", needs: 6, found: 2) }
    return units
  }
}
