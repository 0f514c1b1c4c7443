package import NIOCore

extension VP9FrameHeader {
  /// Returns a frame that is decoded in the same way, but not shown (show_frame 0).
  ///
  /// A keyframe changes in one bit. In an inter frame, the specification demands a bit more if it is not shown (intra_only,
  /// which is 0), after error_resilient_mode, so the rest of the uncompressed header moves by one bit, and is filled up to
  /// whole bytes again.
  ///
  /// - Parameter frame: the frame with this header.
  /// - Returns: nil if that is impossible: the frame shows an earlier one, has a reference of unknown size, or is damaged.
  package func hiding(_ frame: ByteBuffer) -> ByteBuffer? {
    if !isShown { return frame }
    guard let extent = try? extent(in: frame), frame.readableBytes >= extent.bytes + extent.compressedHeaderSize else {
      return nil
    }
    // After frame_marker, the profile, show_existing_frame and frame_type.
    let position = profile == 3 ? 7 : 6
    switch kind {
    case .showsExisting, .intraOnly:
      return nil
    case .keyframe:
      var hidden = frame
      guard let byte = frame.getInteger(at: frame.readerIndex, as: UInt8.self) else { return nil }
      hidden.setInteger(byte & ~(0x80 >> UInt8(position)), at: hidden.readerIndex)
      return hidden
    case .inter:
      var (reader, writer) = (VP9BitReader(frame), VP9BitWriter())
      do throws(ParseError) {
        for _ in 0..<position { writer.write(try reader.read(1)) }
        // show_frame
        try reader.skip(1)
        writer.write(0)
        // error_resilient_mode
        writer.write(try reader.read(1))
        // intra_only
        writer.write(0)
        while reader.position < extent.bits { writer.write(try reader.read(1)) }
      } catch {
        return nil
      }
      var (hidden, rest) = (writer.bytes, frame)
      rest.moveReaderIndex(forwardBy: extent.bytes)
      hidden.writeImmutableBuffer(rest)
      return hidden
    }
  }
}

/// A writer of single bits, the most significant bit of each byte first.
private struct VP9BitWriter {
  /// The bits written so far, filled up to whole bytes with zeros.
  private(set) var bytes = ByteBuffer()
  private var count = 0

  mutating func write(_ bit: Int) {
    if count % 8 == 0 { bytes.writeInteger(UInt8(0)) }
    let index = bytes.writerIndex - 1
    if bit != 0, let byte = bytes.getInteger(at: index, as: UInt8.self) {
      bytes.setInteger(byte | 0x80 >> UInt8(count % 8), at: index)
    }
    count += 1
  }
}
