package import NIOCore

/// A unit of an H.264 bitstream: a slice, a parameter set, or information beside them (ITU-T H.264, 7.3.1).
package struct H264NALUnit: Sendable, Hashable {
  /// What a NAL unit contains: nal_unit_type (ITU-T H.264, table 7-1).
  package struct Kind: Sendable, Hashable, RawRepresentable {
    /// 0 to 31.
    package var rawValue: UInt8

    package init(rawValue: UInt8) {
      self.rawValue = rawValue & 0x1F
    }

    /// A slice of a frame that may refer to earlier frames.
    package static let slice = Kind(rawValue: 1)
    /// The first part of a slice in three parts, with its header.
    package static let sliceDataPartitionA = Kind(rawValue: 2)
    /// A slice of an IDR picture: no later frame refers to an earlier one.
    package static let idrSlice = Kind(rawValue: 5)
    /// Supplemental enhancement information (SEI).
    package static let supplementalInformation = Kind(rawValue: 6)
    package static let sequenceParameterSet = Kind(rawValue: 7)
    package static let pictureParameterSet = Kind(rawValue: 8)
    package static let accessUnitDelimiter = Kind(rawValue: 9)
    package static let endOfSequence = Kind(rawValue: 10)
    package static let endOfStream = Kind(rawValue: 11)
    package static let filler = Kind(rawValue: 12)

    /// Whether it has samples of the primary picture: types 1 to 5.
    package var isSlice: Bool { (1...5).contains(rawValue) }
    /// Whether it is a sequence or picture parameter set.
    package var isParameterSet: Bool { self == .sequenceParameterSet || self == .pictureParameterSet }
    /// Whether it begins with a slice header: types 1, 2 and 5.
    package var hasSliceHeader: Bool { self == .slice || self == .sliceDataPartitionA || self == .idrSlice }
    /// Whether it is part of a frame in the form of ``H264NALUnits``: delimiters, ends and filler are left out.
    package var isKept: Bool { !(9...12).contains(rawValue) }
  }

  /// The whole unit: its header of one byte, and the payload with its emulation prevention bytes. Never empty.
  package let bytes: ByteBuffer
  private let header: UInt8

  /// Nil for an empty unit.
  package init?(_ bytes: ByteBuffer) {
    guard let header = bytes.getInteger(at: bytes.readerIndex, as: UInt8.self) else { return nil }
    self.bytes = bytes
    self.header = header
  }

  package var type: Kind { Kind(rawValue: header) }
  /// nal_ref_idc, 0 to 3: 0 if no frame refers to this one.
  package var referenceIDC: UInt8 { header >> 5 & 0x03 }
  /// Whether forbidden_zero_bit is 0, as it must be.
  package var isValid: Bool { header & 0x80 == 0 }
}

/// The NAL units of an H.264 frame in the form of ``NALUnits``.
///
/// The sequence ends at the first length that is 0 or exceeds what is left.
package struct H264NALUnits: Sequence, Sendable {
  /// The bytes of a length.
  package static let lengthSize = NALUnits.lengthSize

  private let units: NALUnits

  package init(_ frame: ByteBuffer) {
    units = NALUnits(frame)
  }

  package struct Iterator: IteratorProtocol, Sendable {
    private var units: NALUnits.Iterator

    fileprivate init(_ units: NALUnits.Iterator) {
      self.units = units
    }

    /// What has not been read: empty at the end of a whole frame.
    package var rest: ByteBuffer { units.rest }

    package mutating func next() -> H264NALUnit? { units.next().flatMap(H264NALUnit.init) }
  }

  package func makeIterator() -> Iterator { Iterator(units.makeIterator()) }

  /// Appends a NAL unit and its length to a frame.
  package static func append(_ unit: ByteBuffer, to frame: inout ByteBuffer) { NALUnits.append(unit, to: &frame) }
}
