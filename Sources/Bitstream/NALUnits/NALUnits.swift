package import NIOCore

/// The NAL units of a frame in which each follows its length in 4 bytes, big endian (ISO/IEC 14496-15, 5.3.4.2): the form of H.264 and
/// H.265 frames in `EncodedFrame`, in files and in the decoders' queues.
///
/// The sequence ends at the first length that is 0 or exceeds what is left.
package struct NALUnits: Sequence, Sendable {
  /// The bytes of a length.
  package static let lengthSize = 4

  private let frame: ByteBuffer

  package init(_ frame: ByteBuffer) {
    self.frame = frame
  }

  package struct Iterator: IteratorProtocol, Sendable {
    /// What has not been read: empty at the end of a whole frame.
    package private(set) var rest: ByteBuffer

    fileprivate init(_ frame: ByteBuffer) {
      rest = frame
    }

    /// Returns the next unit, header included; never an empty one.
    package mutating func next() -> ByteBuffer? {
      guard let length = rest.getInteger(at: rest.readerIndex, as: UInt32.self), length > 0,
        let unit = rest.getSlice(at: rest.readerIndex + NALUnits.lengthSize, length: Int(length))
      else { return nil }
      rest.moveReaderIndex(forwardBy: NALUnits.lengthSize + Int(length))
      return unit
    }
  }

  package func makeIterator() -> Iterator { Iterator(frame) }

  /// Appends a NAL unit and its length to a frame.
  package static func append(_ unit: ByteBuffer, to frame: inout ByteBuffer) {
    frame.writeInteger(UInt32(clamping: unit.readableBytes))
    frame.writeImmutableBuffer(unit)
  }
}
