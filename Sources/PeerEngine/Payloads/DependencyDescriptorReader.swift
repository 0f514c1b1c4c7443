import NIOCore
package import RTP

/// What a dependency descriptor says of a frame.
package struct FrameDependencies: Sendable, Hashable {
  /// frame_number.
  package var number: UInt16
  package var temporalLayer: UInt8
  /// The distances to the frames that it refers to.
  package var differences: [UInt16]

  package init(number: UInt16, temporalLayer: UInt8 = 0, differences: [UInt16]) {
    self.number = number
    self.temporalLayer = temporalLayer
    self.differences = differences
  }

  package init(_ descriptor: DependencyDescriptor) {
    self.init(
      number: descriptor.frameNumber, temporalLayer: descriptor.dependencies.temporalLayer,
      differences: descriptor.dependencies.frameDifferences)
  }
}

/// Reads the dependency descriptors of a source, whose templates come with its keyframes.
struct DependencyDescriptorReader: Sendable {
  private var structure: FrameDependencyStructure?

  /// Reads the descriptor of the next frame; nil if it is damaged, or its templates are unknown.
  mutating func read(_ value: [UInt8]) -> DependencyDescriptor? {
    guard let descriptor = try? DependencyDescriptor(parsing: ByteBuffer(bytes: value), structure: structure) else {
      return nil
    }
    if let new = descriptor.structure { structure = new }
    return descriptor
  }
}
