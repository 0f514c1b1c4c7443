package import Bitstream
package import NIOCore

/// What an RTP payload of H.264 carries (RFC 6184, 5.2), in the packetization modes 0 and 1.
package enum H264Payload: Sendable, Hashable {
  /// One whole NAL unit (5.6).
  case unit(H264NALUnit)
  /// Several whole NAL units (STAP-A, 5.7.1).
  case aggregation([H264NALUnit])
  /// A part of a NAL unit (FU-A, 5.8).
  case fragment(Fragment)

  /// A part of a NAL unit.
  package struct Fragment: Sendable, Hashable {
    /// The header of the NAL unit.
    package var header: UInt8
    package var isFirst: Bool
    package var isLast: Bool
    /// The bytes after the header of the NAL unit.
    package var bytes: ByteBuffer

    package init(header: UInt8, isFirst: Bool, isLast: Bool, bytes: ByteBuffer) {
      self.header = header
      self.isFirst = isFirst
      self.isLast = isLast
      self.bytes = bytes
    }

    package var type: H264NALUnit.Kind { H264NALUnit.Kind(rawValue: header) }
    /// nal_ref_idc, 0 to 3.
    package var referenceIDC: UInt8 { header >> 5 & 0x03 }
  }

  /// nal_unit_type of the structures of this payload format.
  static let aggregationType: UInt8 = 24
  static let fragmentType: UInt8 = 28

  /// Parses a payload. What belongs to mode 2 (STAP-B, MTAP, FU-B) or is not defined (0, 30, 31) is an error, as is a NAL unit that says
  /// that it is damaged (the F bit).
  package init(parsing payload: ByteBuffer) throws(ParseError) {
    guard let header = payload.getInteger(at: payload.readerIndex, as: UInt8.self) else {
      throw .tooShort("An H.264 payload", needs: 1, found: 0)
    }
    guard header & 0x80 == 0 else { throw .wrongValue("An H.264 payload's F bit", expected: "0", found: 1) }
    switch header & 0x1F {
    case 1...23:
      self = .unit(try Self.unit(payload))
    case Self.aggregationType:
      self = .aggregation(try Self.units(of: payload))
    case Self.fragmentType:
      guard let second = payload.getInteger(at: payload.readerIndex + 1, as: UInt8.self),
        let bytes = payload.getSlice(at: payload.readerIndex + 2, length: payload.readableBytes - 2)
      else { throw .tooShort("A fragment of H.264", needs: 2, found: payload.readableBytes) }
      guard (1...23).contains(second & 0x1F) else {
        throw .wrongValue("The nal_unit_type of a fragment of H.264", expected: "1 to 23", found: Int(second & 0x1F))
      }
      self = .fragment(
        Fragment(
          header: header & 0xE0 | second & 0x1F, isFirst: second & 0x80 != 0, isLast: second & 0x40 != 0, bytes: bytes))
    default:
      throw .wrongValue("An H.264 payload's type", expected: "1 to 24 or 28", found: Int(header & 0x1F))
    }
  }

  private static func unit(_ bytes: ByteBuffer) throws(ParseError) -> H264NALUnit {
    guard let unit = H264NALUnit(bytes) else { throw .tooShort("A NAL unit", needs: 1, found: 0) }
    guard unit.isValid, (1...23).contains(unit.type.rawValue) else {
      throw .wrongValue("A NAL unit's first byte", expected: "one of type 1 to 23", found: Int(unit.type.rawValue))
    }
    return unit
  }

  private static func units(of payload: ByteBuffer) throws(ParseError) -> [H264NALUnit] {
    var rest = payload
    rest.moveReaderIndex(forwardBy: 1)
    var units: [H264NALUnit] = []
    while rest.readableBytes > 0 {
      guard let bytes = rest.readLengthPrefixedSlice(as: UInt16.self) else {
        throw .tooShort("A NAL unit in an aggregation packet", needs: 3, found: rest.readableBytes)
      }
      units.append(try unit(bytes))
    }
    guard !units.isEmpty else { throw .tooShort("An aggregation packet of H.264", needs: 4, found: 1) }
    return units
  }
}
