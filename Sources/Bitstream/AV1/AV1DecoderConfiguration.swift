package import NIOCore

/// The sequence header of an AV1 stream as files store it: an AV1CodecConfigurationRecord, `av1C` (AV1 in ISOBMFF, 2.3.3).
package struct AV1DecoderConfiguration: Sendable, Hashable {
  /// The first sequence header in ``units``.
  package let sequence: AV1SequenceHeader
  /// The OBUs of the record with their sizes: the sequence header, and perhaps metadata.
  package let units: ByteBuffer

  /// The maximum length of ``encoded``.
  package static let maximumLength = 2 * AV1SequenceHeader.maximumBytes

  /// Takes the first sequence header of a keyframe; nil if it has none that can be used.
  ///
  /// - Parameter unit: a temporal unit in the form of ``AV1OBUs``.
  package init?(keyframe unit: ByteBuffer) {
    for obu in AV1OBUs(unit) {
      if obu.type.beginsFrame { return nil }
      guard obu.type == .sequenceHeader else { continue }
      guard let sequence = try? AV1SequenceHeader(parsing: obu.payload) else { return nil }
      self.sequence = sequence
      var bytes = ByteBuffer()
      obu.write(into: &bytes)
      units = bytes
      return
    }
    return nil
  }

  /// Parses a record. One without a sequence header is an error, since it tells nothing that is needed.
  package init(parsing record: ByteBuffer) throws(ParseError) {
    var rest = record
    guard let first = rest.readInteger(as: UInt8.self), rest.readBytes(length: 3) != nil else {
      throw .tooShort("An av1C record", needs: 4, found: record.readableBytes)
    }
    guard first == 0x81 else { throw .wrongValue("An av1C record's first byte", expected: "129", found: Int(first)) }
    guard record.readableBytes <= Self.maximumLength else {
      throw .wrongValue(
        "An av1C record's size", expected: "at most \(Self.maximumLength) bytes", found: record.readableBytes)
    }
    var units = ByteBuffer()
    var sequence: AV1SequenceHeader?
    while rest.readableBytes > 0 {
      let obu = try AV1OBU(parsing: &rest)
      guard obu.type.isKept else { continue }
      if obu.type == .sequenceHeader, sequence == nil { sequence = try AV1SequenceHeader(parsing: obu.payload) }
      obu.write(into: &units)
    }
    guard let sequence else {
      throw .wrongValue("An av1C record's number of sequence headers", expected: "at least 1", found: 0)
    }
    self.sequence = sequence
    self.units = units
  }

  /// The record.
  package var encoded: ByteBuffer {
    var record = ByteBuffer()
    let point = sequence.operatingPoints[0]
    let depth: UInt8 = (sequence.bitDepth > 8 ? 0x40 : 0) | (sequence.bitDepth > 10 ? 0x20 : 0)
    let chroma: UInt8 = (sequence.hasHalfChromaWidth ? 0x08 : 0) | (sequence.hasHalfChromaHeight ? 0x04 : 0)
    record.writeMultipleIntegers(
      0x81 as UInt8, sequence.profile << 5 | point.level,
      (point.isHighTier ? 0x80 : 0) | depth | (sequence.isMonochrome ? 0x10 : 0) | chroma
        | sequence.chromaSamplePosition,
      // Without initial_presentation_delay.
      0 as UInt8)
    record.writeImmutableBuffer(units)
    return record
  }
}
