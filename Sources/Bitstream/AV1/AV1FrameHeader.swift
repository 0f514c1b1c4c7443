package import NIOCore

/// The beginning of the header of an AV1 frame (AV1 bitstream specification, 5.9.2), up to its size.
package struct AV1FrameHeader: Sendable, Hashable {
  package typealias Size = AV1SequenceHeader.Size

  /// frame_type.
  package enum Kind: UInt8, Sendable, Hashable {
    case key
    case inter
    case intraOnly
    case switching
  }

  /// The slot of the earlier frame that the header shows in place of a frame of its own (show_existing_frame); nil if it has one.
  package let shownSlot: Int?
  /// Nil for a header that shows an earlier frame.
  package let kind: Kind?
  /// Whether the frame, or the earlier one, is shown.
  package let isShown: Bool
  /// The slots in which a decoder stores the frame; 0 for a header that shows an earlier one.
  package let refreshFrameFlags: UInt8
  /// The size of the decoded frame, after super-resolution; nil if it is that of a reference that is unknown.
  package let size: Size?
  /// The size at which the frame should be shown, if the header tells another one.
  package let renderSize: Size?

  /// Whether the frame is a key frame that is shown: no later frame depends on an earlier one.
  package var isShownKeyFrame: Bool { kind == .key && isShown }

  /// Parses the payload of an OBU that begins a frame.
  ///
  /// - Parameters:
  ///   - unit: a frame OBU or a frame header OBU.
  ///   - sequence: the sequence header that holds for it.
  ///   - references: what a decoder stores before this frame.
  package init(parsing unit: AV1OBU, sequence: AV1SequenceHeader, references: AV1References = AV1References())
    throws(ParseError)
  {
    var reader = AV1BitReader(unit.payload, part: Self.part)
    let fields = sequence.frameFields
    let start = sequence.isReducedStillPicture ? Start(kind: .key, isShown: true) : try Start(&reader)
    isShown = start.isShown
    shownSlot = start.shownSlot
    kind = start.kind
    guard let kind = start.kind else {
      refreshFrameFlags = 0
      size = start.shownSlot.flatMap { references[$0]?.size }
      renderSize = nil
      return
    }
    let isIntra = kind == .key || kind == .intraOnly
    let isShownKeyFrame = kind == .key && start.isShown
    var isResilient = isShownKeyFrame || kind == .switching
    if !sequence.isReducedStillPicture {
      if start.isShown { try reader.skip(fields.presentationTimeBits) }
      // showable_frame
      if !start.isShown { try reader.skip(1) }
      if !isResilient { isResilient = try reader.flag() }
    }
    // disable_cdf_update
    try reader.skip(1)
    var hasScreenContentTools = fields.screenContentTools ?? false
    if fields.screenContentTools == nil { hasScreenContentTools = try reader.flag() }
    // force_integer_mv
    if hasScreenContentTools, fields.integerMotionVectors == nil { try reader.skip(1) }
    // current_frame_id
    try reader.skip(fields.frameIDBits)
    let hasOwnSize = kind == .switching ? true : sequence.isReducedStillPicture ? false : try reader.flag()
    // order_hint
    try reader.skip(fields.orderHintBits)
    // primary_ref_frame
    if !isIntra && !isResilient { try reader.skip(3) }
    try Self.skipRemovalTimes(&reader, of: unit, sequence: sequence)
    refreshFrameFlags = isShownKeyFrame || kind == .switching ? .max : UInt8(try reader.read(8))
    if !isIntra || refreshFrameFlags != .max, isResilient {
      // ref_order_hint
      try reader.skip(AV1References.count * fields.orderHintBits)
    }
    guard !isIntra else {
      (size, renderSize) = try Self.readSizes(&reader, hasOwn: hasOwnSize, sequence: sequence)
      return
    }
    let slots = try Self.readReferences(&reader, fields: fields)
    guard hasOwnSize, !isResilient else {
      (size, renderSize) = try Self.readSizes(&reader, hasOwn: hasOwnSize, sequence: sequence)
      return
    }
    for slot in slots where try reader.flag() {
      let reference = slot.flatMap { references[$0] }
      (size, renderSize) = (reference?.size, reference?.renderSize)
      return
    }
    (size, renderSize) = try Self.readSizes(&reader, hasOwn: true, sequence: sequence)
  }

  private static let part = "An AV1 frame header"
  /// The number of references of an inter frame.
  private static let referencesPerFrame = 7

  /// The fields before all others, which can be read without the sequence header, unless that is one of a still picture.
  package struct Start: Sendable, Hashable {
    package let shownSlot: Int?
    package let kind: Kind?
    package let isShown: Bool

    fileprivate init(kind: Kind, isShown: Bool) {
      (self.kind, self.isShown, shownSlot) = (kind, isShown, nil)
    }

    /// Parses the payload of a frame OBU or a frame header OBU.
    package init(parsing payload: ByteBuffer) throws(ParseError) {
      var reader = AV1BitReader(payload, part: AV1FrameHeader.part)
      try self.init(&reader)
    }

    fileprivate init(_ reader: inout AV1BitReader) throws(ParseError) {
      // show_existing_frame
      if try reader.flag() {
        shownSlot = try reader.read(3)
        (kind, isShown) = (nil, true)
      } else {
        shownSlot = nil
        kind = Kind(rawValue: UInt8(try reader.read(2)))
        isShown = try reader.flag()
      }
    }

    /// Whether the frame is a key frame that is shown.
    package var isShownKeyFrame: Bool { kind == .key && isShown }
  }

  private static func skipRemovalTimes(
    _ reader: inout AV1BitReader, of unit: AV1OBU, sequence: AV1SequenceHeader
  ) throws(ParseError) {
    guard sequence.frameFields.removalTimeBits > 0, try reader.flag() else { return }
    for point in sequence.operatingPoints where point.hasRemovalTime {
      let isIncluded =
        point.layers == 0
        || point.layers >> UInt16(unit.temporalLayer) & 1 == 1 && point.layers >> UInt16(8 + unit.spatialLayer) & 1 == 1
      if isIncluded { try reader.skip(sequence.frameFields.removalTimeBits) }
    }
  }

  /// Reads the slots of the references of an inter frame; nil where the header tells them by order hints only.
  private static func readReferences(_ reader: inout AV1BitReader, fields: AV1SequenceHeader.FrameFields)
    throws(ParseError) -> [Int?]
  {
    // frame_refs_short_signaling
    let isShort = fields.orderHintBits > 0 ? try reader.flag() : false
    // last_frame_idx, gold_frame_idx
    if isShort { try reader.skip(6) }
    var slots: [Int?] = []
    slots.reserveCapacity(referencesPerFrame)
    for _ in 0..<referencesPerFrame {
      slots.append(isShort ? nil : try reader.read(3))
      try reader.skip(fields.frameIDDifferenceBits)
    }
    return slots
  }

  /// frame_size, superres_params and render_size.
  private static func readSizes(_ reader: inout AV1BitReader, hasOwn: Bool, sequence: AV1SequenceHeader)
    throws(ParseError) -> (size: Size, renderSize: Size?)
  {
    let fields = sequence.frameFields
    var size = sequence.maximumSize
    if hasOwn {
      size.width = 1 + (try reader.read(fields.widthBits))
      size.height = 1 + (try reader.read(fields.heightBits))
    }
    // use_superres, coded_denom: the frame is coded with a smaller width, and decoded with this one.
    if fields.hasSuperresolution, try reader.flag() { try reader.skip(3) }
    // render_and_frame_size_different
    guard try reader.flag() else { return (size, nil) }
    let width = 1 + (try reader.read(16))
    return (size, Size(width: width, height: 1 + (try reader.read(16))))
  }
}

/// What a decoder of AV1 stores of the eight reference frames (AV1 bitstream specification, 7.20): here only their sizes, since a frame
/// can take its size from a reference in place of stating it.
package struct AV1References: Sendable, Hashable {
  package struct Frame: Sendable, Hashable {
    package var size: AV1FrameHeader.Size
    package var renderSize: AV1FrameHeader.Size?
    /// Whether it is a key frame, which all slots hold once it is shown.
    var isKeyFrame: Bool
  }

  /// The number of reference frames.
  package static let count = 8

  private var frames = [Frame?](repeating: nil, count: count)

  /// With eight unknown frames.
  package init() {}

  /// A reference frame; nil if it is unknown, or if there is no such slot.
  package subscript(slot: Int) -> Frame? {
    frames.indices.contains(slot) ? frames[slot] : nil
  }

  /// Stores a frame in the slots that its header says.
  package mutating func update(after header: AV1FrameHeader) {
    if let slot = header.shownSlot {
      guard let frame = self[slot], frame.isKeyFrame else { return }
      for slot in frames.indices { frames[slot] = frame }
      return
    }
    guard header.refreshFrameFlags != 0 else { return }
    let frame = header.size.map {
      Frame(size: $0, renderSize: header.renderSize, isKeyFrame: header.kind == .key)
    }
    for slot in frames.indices where header.refreshFrameFlags >> UInt8(slot) & 1 == 1 { frames[slot] = frame }
  }
}
