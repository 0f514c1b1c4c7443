package import Bitstream
package import Media
package import NIOCore
package import RTP

/// What ``NALUnitFrameAssembler`` must know of a codec whose frames consist of NAL units.
package protocol NALUnitFrameFormat: Sendable {
  /// The properties of a frame for the codec's tracker of decodability.
  associatedtype Dependency: NALUnitFrameDependency
  associatedtype ParameterSets: NALUnitParameterSets
  associatedtype OrderCounter: PictureOrderCounter

  /// The bytes of the header of a NAL unit, 1 or 2.
  static var headerSize: Int { get }
  /// Parses an RTP payload; nil if it is not valid.
  static func content(of payload: ByteBuffer) -> NALUnitContent?
  /// Returns what a whole unit is.
  static func traits(of unit: ByteBuffer) -> NALUnitTraits
  /// Returns what is known of a frame of which something may be missing: it is damaged, and no keyframe.
  static func dependency(of accessUnit: AccessUnit) -> Dependency
  /// Reads the slices of a frame of which no packet is missing.
  ///
  /// - Parameters:
  ///   - payload: the units of the frame.
  ///   - orders: the counter of the stream's frames.
  ///   - dependency: what the slices say is written to it.
  /// - Returns: nil if the frame does not begin with its first slice, its slices contradict each other, or a parameter set is unknown.
  static func read(
    _ payload: ByteBuffer, sets: ParameterSets, orders: inout OrderCounter, into dependency: inout Dependency
  ) -> NALUnitFrameHeader?
}

/// The properties of a frame for the tracker of a codec with NAL units.
package protocol NALUnitFrameDependency: FrameDependency {
  /// Adds what the frame's dependency descriptor says.
  mutating func add(_ descriptor: DependencyDescriptor)
}

/// Determines where a stream's frames are shown, which are passed to it in decoding order.
package protocol PictureOrderCounter: Sendable {
  init()
}

/// The parameter sets of a stream, the last of each id.
package protocol NALUnitParameterSets: Sendable {
  init()
  /// Stores a parameter set, and returns whether it can be used.
  @discardableResult
  mutating func insert(_ unit: ByteBuffer) -> Bool
  /// Takes the parameter sets of other ids, and those of the same id in place of its own.
  mutating func merge(_ others: Self)
  /// Returns the parameter sets that slices with these ids of picture parameter sets need, in the order of decoding, each once; nil if one
  /// is unknown.
  func units(for pictureIDs: [UInt8]) -> [ByteBuffer]?
  /// Returns a number for the kind and the id of a parameter set; nil for other units, and if it cannot be read.
  static func identity(of unit: ByteBuffer) -> Int?
}

/// What a NAL unit is to a frame.
package struct NALUnitTraits: OptionSet, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// It is part of the frame's payload.
  package static let isKept = NALUnitTraits(rawValue: 1 << 0)
  package static let isSlice = NALUnitTraits(rawValue: 1 << 1)
  /// It is a slice of a keyframe.
  package static let isKeyframe = NALUnitTraits(rawValue: 1 << 2)
  /// It is a slice to which other frames may refer.
  package static let isReference = NALUnitTraits(rawValue: 1 << 3)
  package static let isParameterSet = NALUnitTraits(rawValue: 1 << 4)
  /// It is a parameter set that usually precedes a keyframe.
  package static let precedesKeyframe = NALUnitTraits(rawValue: 1 << 5)
  /// The frames after it do not depend on those before it.
  package static let endsSequence = NALUnitTraits(rawValue: 1 << 6)
}

/// What an RTP payload carries.
package enum NALUnitContent: Sendable {
  case unit(ByteBuffer, NALUnitTraits)
  case aggregation([ByteBuffer])
  case fragment(Fragment)

  /// A part of a NAL unit.
  package struct Fragment: Sendable {
    /// The header of the NAL unit, of which the format says how many bytes it has.
    package var header: UInt16
    package var type: UInt8
    package var traits: NALUnitTraits
    package var isFirst: Bool
    package var isLast: Bool
    /// The bytes after the header of the NAL unit.
    package var bytes: ByteBuffer
  }
}

/// What the slices of a frame say that the assembler needs.
package struct NALUnitFrameHeader: Sendable {
  package var header: VideoHeader
  /// The ids of the picture parameter sets to which the slices refer; at least one.
  package var pictureParameterSets: [UInt8]
  /// The size before cropping.
  package var codedSize: PixelSize
  /// Where it is shown; nil if that is not known.
  package var order: PictureOrder?
}

/// The packets of a frame that is being assembled, or has ended (ITU-T H.264, 3.1: an access unit).
package struct AccessUnit: Sendable {
  var timestamp: UInt32
  var arrival: MonotonicInstant
  var packetsLostBefore: Int
  var packetsLostInside = 0
  var packets = 0
  var units = 0
  var isComplete = true
  /// Whether a slice, or a part of one, has arrived.
  var hasSlice = false
  var isKeyframe = false
  var isReference = false
  /// Whether a parameter set that precedes a keyframe has arrived.
  var hasParameterSets = false
  /// Whether parameter sets follow its slices: they hold from the next frame on.
  var hasLaterParameterSets = false
  /// Whether the frames after it do not depend on those before it.
  var endsSequence = false
  var dependencyDescriptor: [UInt8]?
}
