package import NIOCore

/// The parameter sets of a stream, the last of each id: at most 16 video, 16 sequence and 64 picture parameter sets of 1 KiB each.
package struct H265ParameterSets: Sendable {
  /// The bytes of a parameter set that is accepted.
  package static let maximumBytes = 1_024

  private struct Stored<Parsed: Sendable>: Sendable {
    var parsed: Parsed
    var bytes: ByteBuffer
  }

  private var videos: [UInt8: Stored<H265VideoParameterSet>] = [:]
  private var sequences: [UInt8: Stored<H265SequenceParameterSet>] = [:]
  private var pictures: [UInt8: Stored<H265PictureParameterSet>] = [:]

  package init() {}

  package var isEmpty: Bool { videos.isEmpty && sequences.isEmpty && pictures.isEmpty }

  /// Stores the copy of a parameter set in place of an earlier one with its id.
  ///
  /// - Parameter unit: the NAL unit, header included.
  /// - Returns: whether it is a parameter set that can be used.
  @discardableResult
  package mutating func insert(_ unit: ByteBuffer) -> Bool {
    guard let nalUnit = H265NALUnit(unit), nalUnit.isValid, nalUnit.layerID == 0 else { return false }
    switch nalUnit.type {
    case .videoParameterSet:
      guard let parsed = try? H265VideoParameterSet(parsing: unit) else { return false }
      Self.store(parsed, unit, at: &videos[parsed.id])
    case .sequenceParameterSet:
      guard let parsed = try? H265SequenceParameterSet(parsing: unit) else { return false }
      Self.store(parsed, unit, at: &sequences[parsed.id])
    case .pictureParameterSet:
      guard let parsed = try? H265PictureParameterSet(parsing: unit) else { return false }
      Self.store(parsed, unit, at: &pictures[parsed.id])
    default: return false
    }
    return true
  }

  private static func store<Parsed>(_ parsed: Parsed, _ unit: ByteBuffer, at stored: inout Stored<Parsed>?) {
    guard stored?.bytes != unit else { return }
    stored = Stored(parsed: parsed, bytes: ByteBuffer(bytes: unit.readableBytesView))
  }

  /// Returns the picture parameter set with an id.
  package func picture(_ id: UInt8) -> H265PictureParameterSet? { pictures[id]?.parsed }

  /// Returns the sequence parameter set of a picture parameter set; nil if one of them is unknown.
  package func sequence(for pictureID: UInt8) -> H265SequenceParameterSet? {
    pictures[pictureID].flatMap { sequences[$0.parsed.sequenceParameterSetID]?.parsed }
  }

  /// Returns the NAL units of a picture parameter set, of its sequence parameter set, and of the video parameter set of that, in the
  /// order of decoding; nil if one of them is unknown.
  package func units(for pictureID: UInt8) -> [ByteBuffer]? {
    guard let picture = pictures[pictureID], let sequence = sequences[picture.parsed.sequenceParameterSetID],
      let video = videos[sequence.parsed.videoParameterSetID]
    else { return nil }
    return [video.bytes, sequence.bytes, picture.bytes]
  }

  /// Returns the NAL units of all parameter sets of a kind, by their ids.
  package func all(of type: H265NALUnit.Kind) -> [ByteBuffer] {
    switch type {
    case .videoParameterSet: Self.units(videos)
    case .sequenceParameterSet: Self.units(sequences)
    case .pictureParameterSet: Self.units(pictures)
    default: []
    }
  }

  private static func units<Parsed>(_ sets: [UInt8: Stored<Parsed>]) -> [ByteBuffer] {
    sets.sorted { $0.key < $1.key }.map(\.value.bytes)
  }

  /// Takes the parameter sets of other ids, and those of the same id in place of its own.
  package mutating func merge(_ others: H265ParameterSets) {
    videos.merge(others.videos) { $1 }
    sequences.merge(others.sequences) { $1 }
    pictures.merge(others.pictures) { $1 }
  }

  /// Checks the size and type of a parameter set, and returns a reader of what follows its header.
  static func reader(of unit: ByteBuffer, type: H265NALUnit.Kind, name: String) throws(ParseError) -> NALUnitBitReader {
    let article = name == "SPS" ? "An" : "A"
    guard unit.readableBytes <= maximumBytes else {
      throw .wrongValue(
        "\(article) \(name)'s size", expected: "at most \(maximumBytes) bytes", found: unit.readableBytes)
    }
    let found = H265NALUnit(unit)?.type
    guard found == type else {
      throw .wrongValue(
        "\(article) \(name)'s nal_unit_type", expected: "\(type.rawValue)", found: Int(found?.rawValue ?? 0))
    }
    return NALUnitBitReader(unit, headerSize: H265NALUnit.headerSize, part: "\(article) \(name)")
  }
}
