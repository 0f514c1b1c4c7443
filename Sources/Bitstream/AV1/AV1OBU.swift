package import NIOCore

/// A unit of an AV1 bitstream: an Open Bitstream Unit (AV1 bitstream specification, 5.3).
package struct AV1OBU: Sendable, Hashable {
  /// What an OBU contains: obu_type (AV1 bitstream specification, 6.2.2).
  package struct Kind: Sendable, Hashable, RawRepresentable {
    /// 0 to 15.
    package var rawValue: UInt8

    package init(rawValue: UInt8) {
      self.rawValue = rawValue & 0x0F
    }

    /// The kind in the first byte of an OBU.
    package init(header: UInt8) {
      rawValue = header >> 3 & 0x0F
    }

    package static let sequenceHeader = Kind(rawValue: 1)
    package static let temporalDelimiter = Kind(rawValue: 2)
    package static let frameHeader = Kind(rawValue: 3)
    package static let tileGroup = Kind(rawValue: 4)
    package static let metadata = Kind(rawValue: 5)
    /// A frame header, and the first tile group after it.
    package static let frame = Kind(rawValue: 6)
    package static let redundantFrameHeader = Kind(rawValue: 7)
    package static let tileList = Kind(rawValue: 8)
    package static let padding = Kind(rawValue: 15)

    /// Whether it is part of a temporal unit in the form of ``AV1OBUs``: delimiters, tile lists and padding are left out, as they are in
    /// Matroska.
    package var isKept: Bool { self != .temporalDelimiter && self != .tileList && self != .padding }
    /// Whether it begins a frame, or shows an earlier one.
    package var beginsFrame: Bool { self == .frame || self == .frameHeader }
    /// Whether it is a part of a frame.
    package var isOfFrame: Bool { beginsFrame || self == .tileGroup || self == .redundantFrameHeader }
    /// Whether it can be the last OBU of a frame.
    package var canEndFrame: Bool { self == .frame || self == .tileGroup || self == .frameHeader }
  }

  /// The first byte, without obu_has_size_field.
  private let header: UInt8
  /// obu_extension_header; nil if there is none.
  private let layers: UInt8?
  /// The bytes after the header and the size.
  package let payload: ByteBuffer

  package init(_ type: Kind, temporalLayer: UInt8 = 0, spatialLayer: UInt8 = 0, payload: ByteBuffer) {
    let layers = temporalLayer << 5 | (spatialLayer & 0x03) << 3
    header = type.rawValue << 3 | (layers == 0 ? 0 : Self.extensionBit)
    self.layers = layers == 0 ? nil : layers
    self.payload = payload
  }

  /// Reads an OBU from the front of a buffer. One without a size takes all of it.
  package init(parsing buffer: inout ByteBuffer) throws(ParseError) {
    var rest = buffer
    guard let first = rest.readInteger(as: UInt8.self) else { throw .tooShort("An OBU", needs: 1, found: 0) }
    guard first & 0x80 == 0 else { throw .wrongValue("An OBU's obu_forbidden_bit", expected: "0", found: 1) }
    if first & Self.extensionBit != 0 {
      guard let byte = rest.readInteger(as: UInt8.self) else {
        throw .tooShort("An OBU with an extension", needs: 2, found: 1)
      }
      layers = byte
    } else {
      layers = nil
    }
    header = first & ~Self.sizeBit
    let size = first & Self.sizeBit == 0 ? rest.readableBytes : try LEB128.read("An OBU's size", from: &rest)
    guard let payload = rest.readSlice(length: size) else {
      throw .tooShort("An OBU", needs: size, found: rest.readableBytes)
    }
    self.payload = payload
    buffer = rest
  }

  private init(header: UInt8, layers: UInt8?, payload: ByteBuffer) {
    self.header = header
    self.layers = layers
    self.payload = payload
  }

  /// Returns the OBU with another spatial layer, 0 to 3, and with an extension.
  func moved(to spatialLayer: UInt8) -> AV1OBU {
    AV1OBU(
      header: header | Self.extensionBit, layers: (layers ?? 0) & ~0x18 | (spatialLayer & 0x03) << 3, payload: payload)
  }

  /// Returns an OBU with the same header.
  func replacing(_ payload: ByteBuffer) -> AV1OBU { AV1OBU(header: header, layers: layers, payload: payload) }

  package static let extensionBit: UInt8 = 0x04
  /// obu_has_size_field.
  package static let sizeBit: UInt8 = 0x02

  package var type: Kind { Kind(header: header) }
  /// temporal_id, 0 to 7.
  package var temporalLayer: UInt8 { (layers ?? 0) >> 5 }
  /// spatial_id, 0 to 3.
  package var spatialLayer: UInt8 { (layers ?? 0) >> 3 & 0x03 }
  package var hasExtension: Bool { layers != nil }

  /// The bytes of the header: 1 or 2.
  package var headerSize: Int { layers == nil ? 1 : 2 }
  /// The bytes that ``write(into:)`` writes.
  package var byteCount: Int { headerSize + LEB128.byteCount(of: payload.readableBytes) + payload.readableBytes }

  /// Writes the OBU with its size.
  package func write(into buffer: inout ByteBuffer) {
    writeHeader(hasSize: true, into: &buffer)
    LEB128.write(payload.readableBytes, into: &buffer)
    buffer.writeImmutableBuffer(payload)
  }

  /// Writes the header alone.
  package func writeHeader(hasSize: Bool, into buffer: inout ByteBuffer) {
    buffer.writeInteger(header | (hasSize ? Self.sizeBit : 0))
    if let layers { buffer.writeInteger(layers) }
  }
}

/// The OBUs of a temporal unit in the low-overhead format (AV1 bitstream specification, 5.2): the form of AV1 in `EncodedFrame`, in
/// files and in the decoders' queues. What a call delivers has the size in every OBU, and none that is left out in Matroska.
///
/// The sequence ends at the first byte that begins no whole OBU.
package struct AV1OBUs: Sequence, Sendable {
  private let unit: ByteBuffer

  /// - Parameter unit: a temporal unit; the last OBU may be without a size.
  package init(_ unit: ByteBuffer) {
    self.unit = unit
  }

  package struct Iterator: IteratorProtocol, Sendable {
    /// What has not been read: empty at the end of a whole temporal unit.
    package private(set) var rest: ByteBuffer

    fileprivate init(_ unit: ByteBuffer) {
      rest = unit
    }

    package mutating func next() -> AV1OBU? {
      rest.readableBytes == 0 ? nil : try? AV1OBU(parsing: &rest)
    }
  }

  package func makeIterator() -> Iterator { Iterator(unit) }
}
