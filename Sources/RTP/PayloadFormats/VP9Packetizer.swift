import Bitstream
package import NIOCore

/// Splits VP9 frames of one spatial layer into RTP payloads of about equal size (RFC 9628, 4.2), in the non-flexible mode.
///
/// Without layer indices, as libwebrtc sends a stream of one layer: each picture depends on those before it.
package struct VP9Packetizer: Sendable, Hashable {
  /// The maximum payload size in bytes, descriptor included.
  package let maximumPayloadSize: Int

  /// - Parameter maximumPayloadSize: in bytes; smaller values than 32 are raised to 32.
  package init(maximumPayloadSize: Int) {
    self.maximumPayloadSize = max(32, maximumPayloadSize)
  }

  /// Returns the payloads of one picture, in order. The packet of the last one has the marker bit.
  ///
  /// The first payload of a keyframe has a scalability structure in addition.
  ///
  /// - Parameters:
  ///   - frame: a whole frame, or a superframe of several; an empty one has no payloads.
  ///   - pictureID: the number of the picture, which counts up from picture to picture.
  package func packetize(frame: ByteBuffer, pictureID: UInt16) -> [ByteBuffer] {
    let isKeyframe = (try? VP9FrameHeader(parsing: frame))?.isKeyframe ?? false
    var descriptor = VP9PayloadDescriptor(
      pictureID: .init(pictureID), isInterPicturePredicted: !isKeyframe, startsFrame: true, endsFrame: false)
    descriptor.structure = isKeyframe ? Self.structure(of: frame) : nil
    let parts = frame.parts(ofAtMost: maximumPayloadSize - descriptor.byteCount)
    return parts.enumerated().map { index, part in
      descriptor.endsFrame = index == parts.count - 1
      var payload = ByteBuffer()
      payload.reserveCapacity(descriptor.byteCount + part.readableBytes)
      descriptor.write(into: &payload)
      payload.writeImmutableBuffer(part)
      descriptor.startsFrame = false
      descriptor.structure = nil
      return payload
    }
  }

  /// Returns a scalability structure with the size that is shown of a keyframe, from which libwebrtc learns it.
  private static func structure(of keyframe: ByteBuffer) -> VP9ScalabilityStructure? {
    var references = VP9ReferenceSizes()
    guard let superframe = try? VP9Superframe(parsing: keyframe),
      let size = superframe.output(references: &references).size,
      let width = UInt16(exactly: size.width), let height = UInt16(exactly: size.height)
    else { return nil }
    return VP9ScalabilityStructure(sizes: [.init(width: width, height: height)])
  }
}
