package import Bitstream
package import NIOCore

/// The scalability structure of a VP9 stream: its spatial layers, and the pattern of its temporal layers (RFC 9628, 4.2.1).
package struct VP9ScalabilityStructure: Sendable, Hashable {
  /// The size of the frames of a spatial layer in pixels.
  package struct Size: Sendable, Hashable {
    package var width: UInt16
    package var height: UInt16

    package init(width: UInt16, height: UInt16) {
      self.width = width
      self.height = height
    }
  }

  /// A picture of the group that repeats in the non-flexible mode.
  package struct Picture: Sendable, Hashable {
    /// TID, 0...7.
    package let temporalLayer: UInt8
    /// U: see ``VP9PayloadDescriptor/LayerIndices/isSwitchingUpPoint``.
    package let isSwitchingUpPoint: Bool
    /// P_DIFF, up to 3: how many pictures before this one its references are.
    package let referenceDifferences: [UInt8]

    /// - Parameter referenceDifferences: further ones than 3 are ignored.
    package init(temporalLayer: UInt8, isSwitchingUpPoint: Bool, referenceDifferences: [UInt8]) {
      self.temporalLayer = temporalLayer & 0x07
      self.isSwitchingUpPoint = isSwitchingUpPoint
      self.referenceDifferences = Array(referenceDifferences.prefix(3))
    }
  }

  /// The number of spatial layers (N_S plus 1): 1...8.
  package let spatialLayers: Int
  /// Y: the size of each spatial layer, from the lowest; nil if they are not stated.
  package let sizes: [Size]?
  /// G: the picture group, up to 255 pictures; nil if it is not stated.
  package let pictures: [Picture]?

  /// A structure that states the sizes of its layers: those after the eighth are ignored, and there is at least one.
  package init(sizes: [Size], pictures: [Picture]? = nil) {
    let sizes = sizes.isEmpty ? [Size(width: 0, height: 0)] : Array(sizes.prefix(8))
    spatialLayers = sizes.count
    self.sizes = sizes
    self.pictures = pictures.map { Array($0.prefix(255)) }
  }

  /// A structure without sizes.
  ///
  /// - Parameter spatialLayers: 1...8; other numbers are limited to that.
  package init(spatialLayers: Int, pictures: [Picture]? = nil) {
    self.spatialLayers = min(max(1, spatialLayers), 8)
    sizes = nil
    self.pictures = pictures.map { Array($0.prefix(255)) }
  }

  /// Reads a structure from the front of a buffer, and leaves what follows. Reserved bits are ignored.
  package init(parsing buffer: inout ByteBuffer) throws(ParseError) {
    let size = buffer.readableBytes
    var rest = buffer
    func next() throws(ParseError) -> UInt8 {
      guard let byte = rest.readInteger(as: UInt8.self) else {
        throw .tooShort("A VP9 scalability structure", needs: size + 1, found: size)
      }
      return byte
    }
    let first = try next()
    spatialLayers = Int(first >> 5) + 1
    if first & 0x10 != 0 {
      var sizes: [Size] = []
      for _ in 0..<spatialLayers {
        guard let (width, height) = rest.readMultipleIntegers(as: (UInt16, UInt16).self) else {
          throw .tooShort("A VP9 scalability structure", needs: 1 + 4 * spatialLayers, found: size)
        }
        sizes.append(Size(width: width, height: height))
      }
      self.sizes = sizes
    } else {
      sizes = nil
    }
    if first & 0x08 != 0 {
      var pictures: [Picture] = []
      for _ in 0..<(try next()) {
        let flags = try next()
        var differences: [UInt8] = []
        for _ in 0..<(flags >> 2 & 0x03) { differences.append(try next()) }
        pictures.append(
          Picture(
            temporalLayer: flags >> 5, isSwitchingUpPoint: flags & 0x10 != 0, referenceDifferences: differences))
      }
      self.pictures = pictures
    } else {
      pictures = nil
    }
    buffer = rest
  }

  /// The number of bytes that ``write(into:)`` writes.
  package var byteCount: Int {
    1 + 4 * (sizes?.count ?? 0)
      + (pictures.map { $0.reduce(1) { $0 + 1 + $1.referenceDifferences.count } } ?? 0)
  }

  /// Writes the structure; reserved bits are written as 0.
  package func write(into buffer: inout ByteBuffer) {
    buffer.writeInteger(
      UInt8(truncatingIfNeeded: spatialLayers - 1) << 5 | (sizes == nil ? 0 : 0x10) | (pictures == nil ? 0 : 0x08))
    for size in sizes ?? [] { buffer.writeMultipleIntegers(size.width, size.height) }
    guard let pictures else { return }
    buffer.writeInteger(UInt8(truncatingIfNeeded: pictures.count))
    for picture in pictures {
      buffer.writeInteger(
        picture.temporalLayer << 5 | (picture.isSwitchingUpPoint ? 0x10 : 0)
          | UInt8(truncatingIfNeeded: picture.referenceDifferences.count) << 2)
      buffer.writeBytes(picture.referenceDifferences)
    }
  }
}
