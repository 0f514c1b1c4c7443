package import Bitstream
package import NIOCore

/// The payload descriptor before the VP9 data in each RTP payload (RFC 9628, 4.2).
///
/// A picture has one frame for each of its spatial layers, and a frame one or more payloads.
package struct VP9PayloadDescriptor: Sendable, Hashable {
  /// The layers of a frame.
  package struct LayerIndices: Sendable, Hashable {
    /// TID, 0...7; 0 is the base layer.
    package let temporal: UInt8
    /// U: whether later pictures of higher temporal layers do not depend on pictures of higher temporal layers before this
    /// one.
    package let isSwitchingUpPoint: Bool
    /// SID, 0...7; 0 is the base layer.
    package let spatial: UInt8
    /// D: whether the frame is predicted from the next lower spatial layer of the same picture.
    package let isInterLayerPredicted: Bool

    package init(
      temporal: UInt8 = 0, isSwitchingUpPoint: Bool = false, spatial: UInt8 = 0, isInterLayerPredicted: Bool = false
    ) {
      self.temporal = temporal & 0x07
      self.isSwitchingUpPoint = isSwitchingUpPoint
      self.spatial = spatial & 0x07
      self.isInterLayerPredicted = isInterLayerPredicted
    }
  }

  /// How a frame's references are stated.
  package enum Mode: Sendable, Hashable {
    /// By a pattern that repeats.
    ///
    /// - Parameter baseLayerIndex: TL0PICIDX, a running count of pictures of temporal layer 0; only with layer indices.
    case nonFlexible(baseLayerIndex: UInt8?)
    /// In each frame.
    ///
    /// - Parameter referenceDifferences: P_DIFF, one to three if the frame is predicted from other pictures, or none: how
    ///   many pictures before this one its references are, 0...127.
    case flexible(referenceDifferences: [UInt8])
  }

  /// I: the picture id.
  package var pictureID: PictureID?
  /// P: whether the frame is predicted from other pictures.
  package var isInterPicturePredicted: Bool
  /// L: the layer indices.
  package var layers: LayerIndices?
  /// F, and the fields that depend on it.
  package var mode: Mode
  /// B: whether the payload begins a frame.
  package var startsFrame: Bool
  /// E: whether the payload ends a frame.
  package var endsFrame: Bool
  /// Z: whether no frame of a higher spatial layer depends on this one.
  package var isNotReferenceForUpperLayers: Bool
  /// V: the scalability structure.
  package var structure: VP9ScalabilityStructure?

  package init(
    pictureID: PictureID? = nil, isInterPicturePredicted: Bool, layers: LayerIndices? = nil,
    mode: Mode = .nonFlexible(baseLayerIndex: nil), startsFrame: Bool, endsFrame: Bool,
    isNotReferenceForUpperLayers: Bool = false, structure: VP9ScalabilityStructure? = nil
  ) {
    self.pictureID = pictureID
    self.isInterPicturePredicted = isInterPicturePredicted
    self.layers = layers
    self.mode = mode
    self.startsFrame = startsFrame
    self.endsFrame = endsFrame
    self.isNotReferenceForUpperLayers = isNotReferenceForUpperLayers
    self.structure = structure
  }

  /// The maximum number of P_DIFF fields.
  private static let maximumReferences = 3

  /// Reads the descriptor from the front of an RTP payload and leaves the VP9 data.
  ///
  /// It also throws when no VP9 data follows, and when a frame has more than three references.
  package init(parsing payload: inout ByteBuffer) throws(ParseError) {
    let size = payload.readableBytes
    var rest = payload
    func next() throws(ParseError) -> UInt8 {
      guard let byte = rest.readInteger(as: UInt8.self) else {
        throw .tooShort("A VP9 payload descriptor", needs: size + 1, found: size)
      }
      return byte
    }
    let flags = try next()
    isInterPicturePredicted = flags & 0x40 != 0
    let isFlexible = flags & 0x10 != 0
    startsFrame = flags & 0x08 != 0
    endsFrame = flags & 0x04 != 0
    isNotReferenceForUpperLayers = flags & 0x01 != 0
    if flags & 0x80 != 0 {
      let high = try next()
      let isLong = high & 0x80 != 0
      pictureID = PictureID(isLong ? UInt16(high & 0x7F) << 8 | UInt16(try next()) : UInt16(high), isLong: isLong)
    }
    var baseLayerIndex: UInt8?
    if flags & 0x20 != 0 {
      let byte = try next()
      layers = LayerIndices(
        temporal: byte >> 5, isSwitchingUpPoint: byte & 0x10 != 0, spatial: byte >> 1 & 0x07,
        isInterLayerPredicted: byte & 0x01 != 0)
      if !isFlexible { baseLayerIndex = try next() }
    }
    if isFlexible {
      var differences: [UInt8] = []
      var hasNext = isInterPicturePredicted
      while hasNext {
        guard differences.count < Self.maximumReferences else {
          throw .wrongValue("A VP9 frame's number of references", expected: "at most 3", found: 4)
        }
        let byte = try next()
        differences.append(byte >> 1)
        hasNext = byte & 0x01 != 0
      }
      mode = .flexible(referenceDifferences: differences)
    } else {
      mode = .nonFlexible(baseLayerIndex: baseLayerIndex)
    }
    structure = flags & 0x02 == 0 ? nil : try VP9ScalabilityStructure(parsing: &rest)
    guard rest.readableBytes > 0 else {
      throw .tooShort("A VP9 payload", needs: size + 1, found: size)
    }
    payload = rest
  }

  /// Whether the references are stated in each frame.
  package var isFlexible: Bool {
    if case .flexible = mode { true } else { false }
  }

  /// Whether the payload begins a picture, if no spatial layer is missing.
  package var startsPicture: Bool { startsFrame && layers?.spatial ?? 0 == 0 }

  /// The number of bytes that ``write(into:)`` writes.
  package var byteCount: Int {
    1 + (pictureID?.byteCount ?? 0) + (layers == nil ? 0 : isFlexible ? 1 : 2) + references.count
      + (structure?.byteCount ?? 0)
  }

  /// Writes the descriptor.
  ///
  /// Fields that contradict each other are written so that the result can be parsed: TL0PICIDX is 0 if only the layer indices
  /// are known and left out without them; P is set if and only if there are references in the flexible mode.
  package func write(into buffer: inout ByteBuffer) {
    let references = references
    let isPredicted = isFlexible ? !references.isEmpty : isInterPicturePredicted
    buffer.writeInteger(
      (pictureID == nil ? 0 : 0x80) | (isPredicted ? 0x40 : 0) | (layers == nil ? 0 : 0x20) | (isFlexible ? 0x10 : 0)
        | (startsFrame ? 0x08 : 0) | (endsFrame ? 0x04 : 0) | (structure == nil ? 0 : 0x02)
        | (isNotReferenceForUpperLayers ? 0x01 : 0) as UInt8)
    pictureID?.write(into: &buffer)
    if let layers {
      buffer.writeInteger(
        layers.temporal << 5 | (layers.isSwitchingUpPoint ? 0x10 : 0) | layers.spatial << 1
          | (layers.isInterLayerPredicted ? 0x01 : 0))
      if case .nonFlexible(let baseLayerIndex) = mode { buffer.writeInteger(baseLayerIndex ?? 0) }
    }
    for (position, difference) in references.enumerated() {
      buffer.writeInteger(difference << 1 | (position < references.count - 1 ? 0x01 : 0))
    }
    structure?.write(into: &buffer)
  }

  private var references: ArraySlice<UInt8> {
    guard case .flexible(let differences) = mode else { return [] }
    return differences.prefix(Self.maximumReferences)
  }
}
