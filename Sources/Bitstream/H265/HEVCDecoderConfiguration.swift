package import NIOCore

/// The parameter sets of an H.265 stream as files store them: an HEVCDecoderConfigurationRecord, `hvcC` (ISO/IEC 14496-15, 8.3.3.1).
package struct HEVCDecoderConfiguration: Sendable, Hashable {
  /// The bytes of the length before each NAL unit of a frame: 1, 2 or 4. We write 4.
  package let lengthSize: Int
  /// NAL units, header included, at least one of each kind.
  package let videoParameterSets: [ByteBuffer]
  package let sequenceParameterSets: [ByteBuffer]
  package let pictureParameterSets: [ByteBuffer]
  /// The first sequence parameter set.
  package let parameters: H265SequenceParameterSet

  /// The numbers of sets of each kind that are accepted: those that a stream can have at once.
  private static let maximumCounts = (videos: 16, sequences: 16, pictures: 64)

  /// Nil without usable parameter sets of each kind, or if there are too many.
  package init?(
    videoParameterSets: [ByteBuffer], sequenceParameterSets: [ByteBuffer], pictureParameterSets: [ByteBuffer]
  ) {
    guard
      let parameters = Self.parameters(
        videos: videoParameterSets, sequences: sequenceParameterSets, pictures: pictureParameterSets)
    else { return nil }
    lengthSize = NALUnits.lengthSize
    self.videoParameterSets = videoParameterSets
    self.sequenceParameterSets = sequenceParameterSets
    self.pictureParameterSets = pictureParameterSets
    self.parameters = parameters
  }

  /// Takes the parameter sets of a keyframe, the last of each id; nil if it has none. What cannot be read is left out.
  ///
  /// - Parameter frame: in the form of ``NALUnits``.
  package init?(keyframe frame: ByteBuffer) {
    var sets = H265ParameterSets()
    for unit in H265NALUnits(frame) where unit.type.isParameterSet { sets.insert(unit.bytes) }
    self.init(
      videoParameterSets: sets.all(of: .videoParameterSet), sequenceParameterSets: sets.all(of: .sequenceParameterSet),
      pictureParameterSets: sets.all(of: .pictureParameterSet))
  }

  /// Returns the first sequence parameter set; nil unless the sets are as many as they may be, and of an accepted size.
  private static func parameters(videos: [ByteBuffer], sequences: [ByteBuffer], pictures: [ByteBuffer])
    -> H265SequenceParameterSet?
  {
    guard (1...maximumCounts.videos).contains(videos.count), (1...maximumCounts.sequences).contains(sequences.count),
      (1...maximumCounts.pictures).contains(pictures.count),
      (videos + sequences + pictures).allSatisfy({
        (H265NALUnit.headerSize...H265ParameterSets.maximumBytes).contains($0.readableBytes)
      })
    else { return nil }
    return try? H265SequenceParameterSet(parsing: sequences[0])
  }

  /// Parses a record. NAL units of other kinds than parameter sets, and what follows the last one, are ignored.
  package init(parsing record: ByteBuffer) throws(ParseError) {
    var rest = record
    guard let version = rest.readInteger(as: UInt8.self), rest.readSlice(length: Self.fixedBytes - 3) != nil,
      let (lengths, arrays) = rest.readMultipleIntegers(as: (UInt8, UInt8).self)
    else { throw .tooShort("An hvcC record", needs: Self.fixedBytes, found: record.readableBytes) }
    guard version == 1 else { throw .wrongValue("An hvcC record's version", expected: "1", found: Int(version)) }
    lengthSize = Int(lengths & 0x03) + 1
    guard lengthSize != 3 else {
      throw .wrongValue("An hvcC record's size of lengths", expected: "1, 2 or 4", found: lengthSize)
    }
    var (videos, sequences, pictures): ([ByteBuffer], [ByteBuffer], [ByteBuffer]) = ([], [], [])
    for _ in 0..<arrays {
      guard let (type, count) = rest.readMultipleIntegers(as: (UInt8, UInt16).self) else {
        throw .tooShort("An hvcC record's array of NAL units", needs: 3, found: rest.readableBytes)
      }
      for _ in 0..<count {
        guard let unit = rest.readLengthPrefixedSlice(as: UInt16.self) else {
          throw .tooShort("A NAL unit in an hvcC record", needs: 3, found: rest.readableBytes)
        }
        switch H265NALUnit.Kind(rawValue: type) {
        case .videoParameterSet where videos.count <= Self.maximumCounts.videos: videos.append(unit)
        case .sequenceParameterSet where sequences.count <= Self.maximumCounts.sequences: sequences.append(unit)
        case .pictureParameterSet where pictures.count <= Self.maximumCounts.pictures: pictures.append(unit)
        default: break
        }
      }
    }
    guard let parameters = Self.parameters(videos: videos, sequences: sequences, pictures: pictures) else {
      throw .wrongValue(
        "An hvcC record's parameter sets", expected: "readable, with a VPS, an SPS and a PPS",
        found: videos.count + sequences.count + pictures.count)
    }
    videoParameterSets = videos
    sequenceParameterSets = sequences
    pictureParameterSets = pictures
    self.parameters = parameters
  }

  /// The bytes before the arrays of NAL units.
  private static let fixedBytes = 23

  /// The record. It states lengths of 4 bytes, whatever ``lengthSize`` was read, and that frames may have other parameter sets.
  package var encoded: ByteBuffer { encoded(isComplete: false) }

  /// The same.
  ///
  /// - Parameter isComplete: whether no frame has parameter sets (array_completeness), as `hvc1` requires.
  package func encoded(isComplete: Bool) -> ByteBuffer {
    let profile = parameters.profile
    var record = ByteBuffer()
    record.writeMultipleIntegers(
      1 as UInt8, profile.profileSpace << 6 | (profile.isHighTier ? 0x20 : 0) | profile.profileIDC,
      profile.compatibilityFlags, UInt32(truncatingIfNeeded: profile.constraintFlags >> 16),
      UInt16(truncatingIfNeeded: profile.constraintFlags), profile.levelIDC)
    // min_spatial_segmentation_idc and parallelismType: unknown. avgFrameRate and constantFrameRate: unspecified.
    record.writeMultipleIntegers(
      0xF000 as UInt16, 0xFC as UInt8, 0xFC | parameters.chromaFormat, 0xF8 | (parameters.lumaBitDepth - 8) & 0x07,
      0xF8 | (parameters.chromaBitDepth - 8) & 0x07, 0 as UInt16,
      parameters.temporalLayers << 3 | (parameters.isTemporallyNested ? 0x04 : 0) | UInt8(NALUnits.lengthSize - 1),
      3 as UInt8)
    let flag: UInt8 = isComplete ? 0x80 : 0
    Self.write(videoParameterSets, of: .videoParameterSet, flag, into: &record)
    Self.write(sequenceParameterSets, of: .sequenceParameterSet, flag, into: &record)
    Self.write(pictureParameterSets, of: .pictureParameterSet, flag, into: &record)
    return record
  }

  /// The NAL units of all parameter sets in the form of ``NALUnits``: what precedes a keyframe that has none.
  package var units: ByteBuffer {
    var frame = ByteBuffer()
    for unit in videoParameterSets + sequenceParameterSets + pictureParameterSets { NALUnits.append(unit, to: &frame) }
    return frame
  }

  /// Writes an array of NAL units.
  private static func write(
    _ units: [ByteBuffer], of type: H265NALUnit.Kind, _ flag: UInt8, into record: inout ByteBuffer
  ) {
    record.writeMultipleIntegers(flag | type.rawValue, UInt16(clamping: units.count))
    for unit in units {
      record.writeInteger(UInt16(clamping: unit.readableBytes))
      record.writeImmutableBuffer(unit)
    }
  }
}
