package import Bitstream
package import NIOCore

/// On which frames a frame of video depends: the dependency descriptor in an RTP header extension (AV1 RTP specification 1.0, A.8).
package struct DependencyDescriptor: Sendable, Hashable {
  /// Whether the packet is the first or the last one of its frame.
  package var startsFrame: Bool
  package var endsFrame: Bool
  /// frame_dependency_template_id, 0 to 63.
  package var templateID: UInt8
  /// The number of the frame, which counts up from frame to frame.
  package var frameNumber: UInt16
  /// The templates that hold from this frame on; nil if those before still hold.
  package var structure: FrameDependencyStructure?
  /// The decode targets that the sender still produces, one bit each; nil if that has not changed.
  package var activeDecodeTargets: UInt32?
  /// Layers and dependencies, those of the template unless the descriptor has its own.
  package var dependencies: FrameDependencyStructure.Template

  /// Parses the value of the extension.
  ///
  /// - Parameter structure: that of the last frame that brought one; nil if none did. A descriptor that needs it is an error then.
  package init(parsing value: ByteBuffer, structure known: FrameDependencyStructure?) throws(ParseError) {
    var reader = DescriptorBitReader(value)
    startsFrame = try reader.flag()
    endsFrame = try reader.flag()
    templateID = UInt8(try reader.read(6))
    frameNumber = UInt16(try reader.read(16))
    let isExtended = value.readableBytes > 3
    let hasStructure = isExtended ? try reader.flag() : false
    let hasActiveTargets = isExtended ? try reader.flag() : false
    let hasIndications = isExtended ? try reader.flag() : false
    let hasFrameDifferences = isExtended ? try reader.flag() : false
    let hasChainDifferences = isExtended ? try reader.flag() : false
    structure = hasStructure ? try FrameDependencyStructure(&reader) : nil
    guard let structure = structure ?? known, let template = structure[templateID] else {
      throw .wrongValue(
        "A dependency descriptor's template", expected: "one of a known structure", found: Int(templateID))
    }
    activeDecodeTargets =
      hasActiveTargets
      ? try reader.read(structure.decodeTargets)
      : hasStructure ? UInt32(truncatingIfNeeded: 1 << UInt64(structure.decodeTargets) - 1) : nil
    dependencies = template
    if hasIndications {
      for index in dependencies.indications.indices { dependencies.indications[index] = try reader.indication() }
    }
    if hasFrameDifferences { dependencies.frameDifferences = try Self.readDifferences(&reader) }
    if hasChainDifferences {
      for index in dependencies.chainDifferences.indices {
        dependencies.chainDifferences[index] = UInt8(try reader.read(8))
      }
    }
  }

  /// A.8.3.3, frame_fdiffs: each after its length in units of 4 bits.
  private static func readDifferences(_ reader: inout DescriptorBitReader) throws(ParseError) -> [UInt16] {
    var differences: [UInt16] = []
    while true {
      let size = Int(try reader.read(2))
      guard size > 0 else { return differences }
      differences.append(1 + UInt16(try reader.read(4 * size)))
    }
  }
}
