package import NIOCore

/// A unit of an H.265 bitstream: a slice segment, a parameter set, or information beside them (ITU-T H.265, 7.3.1).
package struct H265NALUnit: Sendable, Hashable {
  /// What a NAL unit contains: nal_unit_type (ITU-T H.265, table 7-1).
  package struct Kind: Sendable, Hashable, RawRepresentable {
    /// 0 to 63.
    package var rawValue: UInt8

    package init(rawValue: UInt8) {
      self.rawValue = rawValue & 0x3F
    }

    /// A picture that follows a CRA or BLA picture in decoding, precedes it in output, and may refer to pictures before it; no
    /// other picture than of this kind refers to it (RASL_N).
    package static let skippedLeadingNonReference = Kind(rawValue: 8)
    /// The same, to which others of the kind may refer (RASL_R).
    package static let skippedLeading = Kind(rawValue: 9)
    /// BLA_W_LP, BLA_W_RADL and BLA_N_LP: a keyframe before which the stream was cut.
    package static let brokenLink: ClosedRange<UInt8> = 16...18
    /// IDR_W_RADL: a keyframe; no later picture refers to an earlier one.
    package static let idr = Kind(rawValue: 19)
    /// IDR_N_LP: the same, without leading pictures.
    package static let idrWithoutLeading = Kind(rawValue: 20)
    /// CRA_NUT: a keyframe of which leading pictures may refer to pictures before it.
    package static let cleanRandomAccess = Kind(rawValue: 21)
    package static let videoParameterSet = Kind(rawValue: 32)
    package static let sequenceParameterSet = Kind(rawValue: 33)
    package static let pictureParameterSet = Kind(rawValue: 34)
    package static let accessUnitDelimiter = Kind(rawValue: 35)
    package static let endOfSequence = Kind(rawValue: 36)
    package static let endOfBitstream = Kind(rawValue: 37)
    package static let filler = Kind(rawValue: 38)
    /// Supplemental enhancement information (SEI) before the slices.
    package static let prefixInformation = Kind(rawValue: 39)
    /// Supplemental enhancement information after the slices.
    package static let suffixInformation = Kind(rawValue: 40)

    /// Whether it is a slice segment of a kind that is defined: types 0 to 9 and 16 to 21.
    package var isSlice: Bool { rawValue <= 9 || isKeyframe }
    /// Whether it is a slice segment of a picture with which decoding can begin (IRAP): types 16 to 21.
    package var isKeyframe: Bool { (16...21).contains(rawValue) }
    /// Whether it is of an IDR picture.
    package var isIDR: Bool { self == .idr || self == .idrWithoutLeading }
    /// Whether it is of a picture that cannot be decoded if decoding begins with the keyframe before it (RASL).
    package var isSkippedLeading: Bool { self == .skippedLeading || self == .skippedLeadingNonReference }
    /// Whether it is of a picture that follows a keyframe in decoding and precedes it in output (RADL, RASL): types 6 to 9.
    package var isLeading: Bool { (6...9).contains(rawValue) }
    /// Whether it is of a picture to which no other one of its temporal sub-layer refers: even types below 16.
    package var isNonReference: Bool { rawValue < 16 && rawValue % 2 == 0 }
    /// Whether it is a video, sequence or picture parameter set.
    package var isParameterSet: Bool { (32...34).contains(rawValue) }
    /// Whether it is part of a frame in the form of ``NALUnits``: delimiters, the end of the bitstream, filler, and what is reserved
    /// or not specified are left out.
    package var isKept: Bool { isSlice || isParameterSet || rawValue == 36 || rawValue == 39 || rawValue == 40 }
    /// Whether an RTP payload may have such a unit: 48 to 50 are structures of the payload format (RFC 7798, 4.4).
    package var isSent: Bool { rawValue < 48 }
  }

  /// The bytes of the header.
  package static let headerSize = 2

  /// The whole unit: its header of two bytes, and the payload with its emulation prevention bytes.
  package let bytes: ByteBuffer
  private let header: UInt16

  /// Nil for a unit without a whole header.
  package init?(_ bytes: ByteBuffer) {
    guard let header = bytes.getInteger(at: bytes.readerIndex, as: UInt16.self) else { return nil }
    self.bytes = bytes
    self.header = header
  }

  package var type: Kind { Kind(header: header) }
  /// nuh_layer_id, 0 to 63: above 0 in the upper layers of a scalable or multiview stream.
  package var layerID: UInt8 { UInt8(truncatingIfNeeded: header >> 3) & 0x3F }
  /// nuh_temporal_id_plus1, 1 to 7.
  package var temporalIDPlus1: UInt8 { UInt8(truncatingIfNeeded: header) & 0x07 }
  /// Whether forbidden_zero_bit is 0 and nuh_temporal_id_plus1 is not, as they must be.
  package var isValid: Bool { header & 0x8000 == 0 && temporalIDPlus1 > 0 }
  /// Whether it is part of a frame in the form of ``NALUnits``: of the base layer, and of a kind that is kept.
  package var isKept: Bool { type.isKept && layerID == 0 }
}

extension H265NALUnit.Kind {
  /// The type in a header of two bytes.
  package init(header: UInt16) {
    self.init(rawValue: UInt8(truncatingIfNeeded: header >> 9))
  }
}

/// The NAL units of an H.265 frame in the form of ``NALUnits``.
///
/// The sequence ends at the first length that is less than 2 or exceeds what is left.
package struct H265NALUnits: Sequence, Sendable {
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

    package mutating func next() -> H265NALUnit? {
      var following = units
      guard let unit = following.next().flatMap(H265NALUnit.init) else { return nil }
      units = following
      return unit
    }
  }

  package func makeIterator() -> Iterator { Iterator(units.makeIterator()) }
}
