package import NIOCore

/// Several VP9 frames in one unit of a container, with an index at the end (VP9 bitstream specification, annex B).
///
/// Encoders store a frame that is not shown together with the next one, and the spatial layers of a picture.
package struct VP9Superframe: Sendable, Hashable {
  /// The maximum number of frames: the index counts them in 3 bits.
  package static let maximumFrames = 8

  /// The frames in the order of decoding: at least one.
  package internal(set) var frames: [ByteBuffer]

  /// - Returns: nil unless there are 1 to 8 frames, none of which is empty.
  package init?(frames: [ByteBuffer]) {
    guard (1...Self.maximumFrames).contains(frames.count),
      frames.allSatisfy({ (1...Int(UInt32.max)).contains($0.readableBytes) })
    else { return nil }
    self.frames = frames
  }

  /// Splits a unit of a container; without an index it is a single frame.
  ///
  /// It throws if the index does not fit the unit, as decoders refuse it then.
  package init(parsing unit: ByteBuffer) throws(ParseError) {
    let size = unit.readableBytes
    guard let marker = unit.getInteger(at: unit.writerIndex - 1, as: UInt8.self), size > 0 else {
      throw .tooShort("A VP9 frame", needs: 1, found: 0)
    }
    let (count, width) = (Int(marker & 0x07) + 1, Int(marker >> 3 & 0x03) + 1)
    let indexSize = 2 + count * width
    guard marker & 0xE0 == 0xC0, size >= indexSize,
      unit.getInteger(at: unit.writerIndex - indexSize, as: UInt8.self) == marker
    else {
      frames = [unit]
      return
    }
    var (rest, index) = (unit, unit)
    index.moveReaderIndex(to: unit.writerIndex - indexSize + 1)
    rest.moveWriterIndex(to: unit.writerIndex - indexSize)
    frames = []
    frames.reserveCapacity(count)
    for _ in 0..<count {
      var length = 0
      for byte in 0..<width { length |= Int(index.readInteger(as: UInt8.self) ?? 0) << (8 * byte) }
      guard length > 0, let frame = rest.readSlice(length: length) else {
        throw .wrongValue(
          "The size of a frame in a VP9 superframe", expected: "1 to \(rest.readableBytes)", found: length)
      }
      frames.append(frame)
    }
  }

  /// Writes the frames and, if there are several, the index.
  package func write(into buffer: inout ByteBuffer) {
    for frame in frames { buffer.writeImmutableBuffer(frame) }
    guard frames.count > 1 else { return }
    let largest = frames.map(\.readableBytes).max() ?? 0
    let width = largest > 0xFF_FFFF ? 4 : largest > 0xFFFF ? 3 : largest > 0xFF ? 2 : 1
    let marker = 0xC0 | UInt8(width - 1) << 3 | UInt8(frames.count - 1)
    buffer.writeInteger(marker)
    for frame in frames {
      for byte in 0..<width { buffer.writeInteger(UInt8(truncatingIfNeeded: frame.readableBytes >> (8 * byte))) }
    }
    buffer.writeInteger(marker)
  }

  /// The number of bytes that ``write(into:)`` writes at most.
  package var maximumByteCount: Int {
    frames.reduce(2 + 4 * frames.count) { $0 + $1.readableBytes }
  }
}
