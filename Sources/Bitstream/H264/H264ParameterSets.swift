package import NIOCore

/// The parameter sets of a stream, the last of each id: at most 32 sequence and 256 picture parameter sets of 1 KiB each.
package struct H264ParameterSets: Sendable {
  private struct SequenceSet: Sendable {
    var parsed: H264SequenceParameterSet
    var bytes: ByteBuffer
  }

  private struct Picture: Sendable {
    var parsed: H264PictureParameterSet
    var bytes: ByteBuffer
  }

  private var sequences: [UInt8: SequenceSet] = [:]
  private var pictures: [UInt8: Picture] = [:]

  package init() {}

  package var isEmpty: Bool { sequences.isEmpty && pictures.isEmpty }

  /// Stores the copy of a parameter set in place of an earlier one with its id.
  ///
  /// - Parameter unit: the NAL unit, header included.
  /// - Returns: whether it is a parameter set that can be used.
  @discardableResult
  package mutating func insert(_ unit: ByteBuffer) -> Bool {
    guard let type = H264NALUnit(unit)?.type else { return false }
    switch type {
    case .sequenceParameterSet:
      guard let parsed = try? H264SequenceParameterSet(parsing: unit) else { return false }
      if sequences[parsed.id]?.bytes != unit {
        sequences[parsed.id] = SequenceSet(parsed: parsed, bytes: ByteBuffer(bytes: unit.readableBytesView))
      }
    case .pictureParameterSet:
      guard let parsed = try? H264PictureParameterSet(parsing: unit) else { return false }
      if pictures[parsed.id]?.bytes != unit {
        pictures[parsed.id] = Picture(parsed: parsed, bytes: ByteBuffer(bytes: unit.readableBytesView))
      }
    default: return false
    }
    return true
  }

  /// Returns the sequence parameter set of a picture parameter set; nil if one of them is unknown.
  package func sequence(for pictureID: UInt8) -> H264SequenceParameterSet? {
    pictures[pictureID].flatMap { sequences[$0.parsed.sequenceParameterSetID]?.parsed }
  }

  /// Returns a picture parameter set; nil if it is unknown.
  package func picture(_ id: UInt8) -> H264PictureParameterSet? { pictures[id]?.parsed }

  /// Returns the NAL units of a picture parameter set and of its sequence parameter set; nil if one of them is unknown.
  package func units(for pictureID: UInt8) -> (sequence: ByteBuffer, picture: ByteBuffer)? {
    guard let picture = pictures[pictureID], let sequence = sequences[picture.parsed.sequenceParameterSetID] else {
      return nil
    }
    return (sequence.bytes, picture.bytes)
  }

  /// Takes the parameter sets of other ids, and those of the same id in place of its own.
  package mutating func merge(_ others: H264ParameterSets) {
    sequences.merge(others.sequences) { $1 }
    pictures.merge(others.pictures) { $1 }
  }
}
