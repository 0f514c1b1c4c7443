package import NIOCore

/// What the OBUs of a temporal unit say about its frames: all frames of one time, of which one is shown for each spatial layer.
package struct AV1TemporalUnit: Sendable, Hashable {
  /// The maximum number of OBUs: no encoder makes more than a tile group for each of the 128 tiles of four layers, and metadata.
  package static let maximumOBUs = 1_024
  /// The maximum number of frames, shown or not, and of sequence headers.
  package static let maximumFrames = 32

  /// Whether it begins with a sequence header, and its first frame is a key frame that is shown: it can be decoded without earlier ones.
  package let isKeyframe: Bool
  /// Whether a frame is shown.
  package let isShown: Bool
  /// The size of the last shown frame, that of the highest spatial layer; nil if it is unknown.
  package let size: AV1FrameHeader.Size?
  /// The sequence header that holds after it; nil if none is known.
  package let sequence: AV1SequenceHeader?
  /// The highest spatial layer of which a frame is shown, 0 to 3.
  package let spatialLayer: UInt8
  /// The spatial layer as which that frame is stored; 0 if no sequence so far had layers.
  let storedLayer: UInt8
  /// Whether it has a sequence header whose first operating point has other layers than those up to ``storedLayer``.
  let changesLayers: Bool

  /// The highest of three spatial layers, as many as WebRTC has.
  fileprivate static let usualLayer: UInt8 = 2

  /// Parses the headers of a whole temporal unit without those before it: the size of frames other than a keyframe's is unknown.
  package init(parsing unit: ByteBuffer) throws(ParseError) {
    var state = State()
    try self.init(parsing: unit, after: &state)
  }

  /// What is known from the temporal units before.
  package struct State: Sendable {
    package private(set) var sequence: AV1SequenceHeader?
    /// The payload of the OBU from which `sequence` was parsed.
    private var sequenceBytes = ByteBuffer()
    fileprivate var references = AV1References()

    package init() {}

    /// The spatial layer as which the highest frame of each picture is stored (see ``AV1TemporalUnit/stored(_:)``).
    fileprivate var storedLayer: UInt8 = 0

    /// Forgets the sequence header and the references: another source follows, which may be stored in the same file.
    package mutating func reset() {
      let layer = storedLayer
      self = State()
      storedLayer = layer
    }

    /// Parses a sequence header, unless it repeats the one before.
    fileprivate mutating func update(_ payload: ByteBuffer) throws(ParseError) {
      if sequence != nil, payload == sequenceBytes { return }
      let parsed = try AV1SequenceHeader(parsing: payload)
      sequence = parsed
      if parsed.spatialLayers > 1 {
        storedLayer = max(storedLayer, AV1TemporalUnit.usualLayer, UInt8(clamping: parsed.spatialLayers - 1))
      }
      // Copied, so that it does not keep the memory of a frame.
      sequenceBytes = ByteBuffer(bytes: payload.readableBytesView)
    }
  }

  /// Parses the headers of the next temporal unit.
  package init(parsing unit: ByteBuffer, after state: inout State) throws(ParseError) {
    var (obus, frames, sequences) = (0, 0, 0)
    var isKeyframe = false
    var isShown = false
    var size: AV1FrameHeader.Size?
    var spatialLayer: UInt8 = 0
    var rest = unit
    while rest.readableBytes > 0 {
      let obu = try AV1OBU(parsing: &rest)
      obus += 1
      guard obus <= Self.maximumOBUs else {
        throw .wrongValue("A temporal unit's number of OBUs", expected: "at most \(Self.maximumOBUs)", found: obus)
      }
      if obu.type == .sequenceHeader {
        sequences += 1
        try Self.check(sequences, "sequence headers")
        try state.update(obu.payload)
      } else if obu.type.beginsFrame {
        frames += 1
        try Self.check(frames, "frames")
        guard let sequence = state.sequence else {
          if try AV1FrameHeader.Start(parsing: obu.payload).isShown { isShown = true }
          continue
        }
        let header = try AV1FrameHeader(parsing: obu, sequence: sequence, references: state.references)
        state.references.update(after: header)
        if frames == 1 { isKeyframe = sequences > 0 && header.isShownKeyFrame }
        guard header.isShown else { continue }
        isShown = true
        size = header.size
        spatialLayer = max(spatialLayer, obu.spatialLayer)
      }
    }
    guard frames > 0 else { throw .tooShort("A temporal unit without a frame", needs: 1, found: 0) }
    self.isKeyframe = isKeyframe
    self.isShown = isShown
    self.size = size
    self.spatialLayer = spatialLayer
    sequence = state.sequence
    storedLayer = state.storedLayer
    changesLayers = sequences > 0 && (state.sequence.map { $0.spatialLayers - 1 < Int(state.storedLayer) } ?? false)
  }

  private static func check(_ count: Int, _ what: String) throws(ParseError) {
    guard count <= maximumFrames else {
      throw .wrongValue("A temporal unit's number of \(what)", expected: "at most \(maximumFrames)", found: count)
    }
  }
}
