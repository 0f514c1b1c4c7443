package import NIOCore

/// The parameter sets of an H.264 stream as files store them: an AVCDecoderConfigurationRecord, `avcC` (ISO/IEC 14496-15, 5.3.3.1).
package struct AVCDecoderConfiguration: Sendable, Hashable {
  /// The bytes of the length before each NAL unit of a frame: 1, 2 or 4. We write 4.
  package let lengthSize: Int
  /// NAL units, header included, 1 to 31.
  package let sequenceParameterSets: [ByteBuffer]
  /// NAL units, header included, 1 to 255.
  package let pictureParameterSets: [ByteBuffer]
  /// The first sequence parameter set.
  package let parameters: H264SequenceParameterSet

  /// The numbers of sets that fit into the record.
  private static let maximumSequences = 31
  private static let maximumPictures = 255

  /// Nil without usable parameter sets of both kinds, or if there are too many.
  package init?(sequenceParameterSets: [ByteBuffer], pictureParameterSets: [ByteBuffer]) {
    guard let first = sequenceParameterSets.first, let parameters = try? H264SequenceParameterSet(parsing: first),
      !pictureParameterSets.isEmpty, sequenceParameterSets.count <= Self.maximumSequences,
      pictureParameterSets.count <= Self.maximumPictures,
      sequenceParameterSets.allSatisfy({ $0.readableBytes <= H264SequenceParameterSet.maximumBytes }),
      pictureParameterSets.allSatisfy({ $0.readableBytes <= H264SequenceParameterSet.maximumBytes })
    else { return nil }
    lengthSize = NALUnits.lengthSize
    self.sequenceParameterSets = sequenceParameterSets
    self.pictureParameterSets = pictureParameterSets
    self.parameters = parameters
  }

  /// Takes the parameter sets of a keyframe, the last of each id; nil if it has none. What cannot be read is left out.
  ///
  /// - Parameter frame: in the form of ``H264NALUnits``.
  package init?(keyframe frame: ByteBuffer) {
    var sequences: [(id: UInt8, bytes: ByteBuffer)] = []
    var pictures: [(id: UInt8, bytes: ByteBuffer)] = []
    for unit in H264NALUnits(frame) {
      switch unit.type {
      case .sequenceParameterSet:
        guard let id = (try? H264SequenceParameterSet(parsing: unit.bytes))?.id else { continue }
        Self.insert(unit.bytes, id: id, into: &sequences)
      case .pictureParameterSet:
        guard let id = (try? H264PictureParameterSet(parsing: unit.bytes))?.id else { continue }
        Self.insert(unit.bytes, id: id, into: &pictures)
      default: break
      }
    }
    self.init(sequenceParameterSets: sequences.map(\.bytes), pictureParameterSets: pictures.map(\.bytes))
  }

  private static func insert(_ unit: ByteBuffer, id: UInt8, into sets: inout [(id: UInt8, bytes: ByteBuffer)]) {
    if let index = sets.firstIndex(where: { $0.id == id }) {
      sets[index].bytes = unit
    } else {
      sets.append((id, unit))
    }
  }

  /// Parses a record. What follows the parameter sets is ignored.
  package init(parsing record: ByteBuffer) throws(ParseError) {
    var rest = record
    guard
      let (version, _, _, _, lengths, count) = rest.readMultipleIntegers(
        as: (UInt8, UInt8, UInt8, UInt8, UInt8, UInt8).self)
    else { throw .tooShort("An avcC record", needs: 7, found: record.readableBytes) }
    guard version == 1 else { throw .wrongValue("An avcC record's version", expected: "1", found: Int(version)) }
    lengthSize = Int(lengths & 0x03) + 1
    guard lengthSize != 3 else {
      throw .wrongValue("An avcC record's size of lengths", expected: "1, 2 or 4", found: lengthSize)
    }
    sequenceParameterSets = try Self.readUnits(Int(count & 0x1F), from: &rest)
    guard let pictures = rest.readInteger(as: UInt8.self) else {
      throw .tooShort("An avcC record", needs: record.readableBytes + 1, found: record.readableBytes)
    }
    pictureParameterSets = try Self.readUnits(Int(pictures), from: &rest)
    guard let first = sequenceParameterSets.first else {
      throw .wrongValue("An avcC record's number of SPS", expected: "at least 1", found: 0)
    }
    guard !pictureParameterSets.isEmpty else {
      throw .wrongValue("An avcC record's number of PPS", expected: "at least 1", found: 0)
    }
    parameters = try H264SequenceParameterSet(parsing: first)
  }

  private static func readUnits(_ count: Int, from rest: inout ByteBuffer) throws(ParseError) -> [ByteBuffer] {
    var units: [ByteBuffer] = []
    for _ in 0..<count {
      guard let unit = rest.readLengthPrefixedSlice(as: UInt16.self) else {
        throw .tooShort("A parameter set in an avcC record", needs: 3, found: rest.readableBytes)
      }
      guard (1...H264SequenceParameterSet.maximumBytes).contains(unit.readableBytes) else {
        throw .wrongValue(
          "The size of a parameter set in an avcC record",
          expected: "1 to \(H264SequenceParameterSet.maximumBytes) bytes",
          found: unit.readableBytes)
      }
      units.append(unit)
    }
    return units
  }

  /// The record. It states lengths of 4 bytes, whatever ``lengthSize`` was read.
  package var encoded: ByteBuffer {
    var record = ByteBuffer()
    record.writeMultipleIntegers(
      1 as UInt8, parameters.profileIDC, parameters.constraintFlags, parameters.levelIDC,
      0xFC | UInt8(NALUnits.lengthSize - 1), 0xE0 | UInt8(clamping: sequenceParameterSets.count))
    Self.write(sequenceParameterSets, into: &record)
    record.writeInteger(UInt8(clamping: pictureParameterSets.count))
    Self.write(pictureParameterSets, into: &record)
    // Where the first edition of the standard ended, for profiles that it did not have.
    if Self.profilesWithFormat.contains(parameters.profileIDC) {
      record.writeMultipleIntegers(
        0xFC | parameters.chromaFormat, 0xF8 | (parameters.lumaBitDepth - 8), 0xF8 | (parameters.chromaBitDepth - 8),
        0 as UInt8)
    }
    return record
  }

  /// The NAL units of all parameter sets in the form of ``H264NALUnits``: what precedes a keyframe that has none.
  package var units: ByteBuffer {
    var frame = ByteBuffer()
    for unit in sequenceParameterSets + pictureParameterSets { H264NALUnits.append(unit, to: &frame) }
    return frame
  }

  private static let profilesWithFormat: Set<UInt8> = [100, 110, 122, 144]

  private static func write(_ units: [ByteBuffer], into record: inout ByteBuffer) {
    for unit in units {
      record.writeInteger(UInt16(clamping: unit.readableBytes))
      record.writeImmutableBuffer(unit)
    }
  }
}
