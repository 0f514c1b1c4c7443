import Bitstream
import NIOCore

/// The templates to which the dependency descriptors of a stream refer; a keyframe brings them (AV1 RTP specification 1.0, A.8.3).
package struct FrameDependencyStructure: Sendable, Hashable {
  /// What frames of one position in the structure have in common.
  package struct Template: Sendable, Hashable {
    package var spatialLayer: UInt8
    package var temporalLayer: UInt8
    /// For each decode target, what the frame is for it.
    package var indications: [Indication] = []
    /// The distances to the frames that the frame refers to, each at least 1.
    package var frameDifferences: [UInt16] = []
    /// For each chain, the distance to its last frame before; 0 if there is none.
    package var chainDifferences: [UInt8] = []
  }

  /// What a frame is for a decode target (A.8.3.3, frame_dti).
  package enum Indication: UInt8, Sendable, Hashable {
    case notPresent
    case discardable
    case switching
    case required
  }

  /// Width and height in pixels, at least 1.
  package struct Resolution: Sendable, Hashable {
    package var width: Int
    package var height: Int

    package init(width: Int, height: Int) {
      self.width = width
      self.height = height
    }
  }

  /// The maximum number of templates; their ids have 6 bits.
  package static let maximumTemplates = 64

  /// template_id_offset: the id of the first template, 0 to 63.
  package var templateIDOffset: UInt8
  /// The number of decode targets, 1 to 32.
  package var decodeTargets: Int
  /// The number of chains, at most one for each decode target.
  package var chains: Int
  /// For each decode target, the chain that protects it; empty without chains.
  package var protectingChains: [UInt8]
  package var templates: [Template]
  /// For each spatial layer, the size at which it is shown; empty if the structure does not tell them.
  package var resolutions: [Resolution]

  /// Returns the template of an id; nil if there is none.
  package subscript(id: UInt8) -> Template? {
    let index = (Int(id) + 64 - Int(templateIDOffset)) % 64
    return templates.indices.contains(index) ? templates[index] : nil
  }

  init(_ reader: inout DescriptorBitReader) throws(ParseError) {
    templateIDOffset = UInt8(try reader.read(6))
    decodeTargets = 1 + Int(try reader.read(5))
    templates = try Self.readLayers(&reader)
    for index in templates.indices {
      for _ in 0..<decodeTargets {
        templates[index].indications.append(try reader.indication())
      }
    }
    for index in templates.indices {
      while try reader.flag() { templates[index].frameDifferences.append(1 + UInt16(try reader.read(4))) }
    }
    chains = Int(try reader.readNonSymmetric(below: UInt32(decodeTargets) + 1))
    protectingChains = []
    if chains > 0 {
      for _ in 0..<decodeTargets {
        protectingChains.append(UInt8(try reader.readNonSymmetric(below: UInt32(chains))))
      }
      for index in templates.indices {
        for _ in 0..<chains { templates[index].chainDifferences.append(UInt8(try reader.read(4))) }
      }
    }
    resolutions = []
    guard try reader.flag() else { return }
    for _ in 0...(templates.map(\.spatialLayer).max() ?? 0) {
      let width = 1 + Int(try reader.read(16))
      resolutions.append(Resolution(width: width, height: 1 + Int(try reader.read(16))))
    }
  }

  /// A.8.3.1, template_layers.
  private static func readLayers(_ reader: inout DescriptorBitReader) throws(ParseError) -> [Template] {
    var templates: [Template] = []
    var (spatial, temporal) = (UInt8(0), UInt8(0))
    while true {
      guard templates.count < maximumTemplates else {
        throw .wrongValue(
          "A dependency structure's number of templates", expected: "at most \(maximumTemplates)",
          found: templates.count + 1)
      }
      templates.append(Template(spatialLayer: spatial, temporalLayer: temporal))
      switch try reader.read(2) {
      case 0: continue
      case 1: temporal += 1
      case 2: (spatial, temporal) = (spatial + 1, 0)
      default: return templates
      }
    }
  }
}

/// A reader of the bits of a dependency descriptor, the most significant bit of each byte first.
struct DescriptorBitReader {
  private let bytes: ByteBuffer
  private var position = 0

  init(_ bytes: ByteBuffer) {
    self.bytes = bytes
  }

  /// Reads a number of up to 32 bits.
  mutating func read(_ count: Int) throws(ParseError) -> UInt32 {
    var value: UInt64 = 0
    var missing = count
    while missing > 0 {
      guard let byte = bytes.getInteger(at: bytes.readerIndex + position / 8, as: UInt8.self) else {
        throw .tooShort(
          "A dependency descriptor", needs: (position + missing + 7) / 8, found: bytes.readableBytes)
      }
      let available = 8 - position % 8
      let taken = min(available, missing)
      value = value << UInt64(taken) | UInt64(byte) >> UInt64(available - taken) & (1 << UInt64(taken) - 1)
      position += taken
      missing -= taken
    }
    return UInt32(truncatingIfNeeded: value)
  }

  mutating func flag() throws(ParseError) -> Bool { try read(1) == 1 }

  /// Reads a number from 0 to `limit` - 1: ns(n) (AV1 RTP specification 1.0, A.8.2).
  mutating func readNonSymmetric(below limit: UInt32) throws(ParseError) -> UInt32 {
    guard limit > 1 else { return 0 }
    let width = 32 - limit.leadingZeroBitCount
    let short = 1 << UInt32(width) - limit
    let value = try read(width - 1)
    if value < short { return value }
    return value << 1 - short + (try read(1))
  }

  mutating func indication() throws(ParseError) -> FrameDependencyStructure.Indication {
    FrameDependencyStructure.Indication(rawValue: UInt8(try read(2))) ?? .notPresent
  }
}
