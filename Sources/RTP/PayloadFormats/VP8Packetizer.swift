package import NIOCore

/// Splits VP8 frames into RTP payloads of about equal size (RFC 7741, 4.4).
package struct VP8Packetizer: Sendable, Hashable {
  /// The maximum payload size in bytes, descriptor included.
  package let maximumPayloadSize: Int

  /// - Parameter maximumPayloadSize: in bytes; smaller values than 16 are raised to 16.
  package init(maximumPayloadSize: Int) {
    self.maximumPayloadSize = max(16, maximumPayloadSize)
  }

  /// Returns the payloads of one frame, in order. The packet of the last one has the marker bit.
  ///
  /// - Parameters:
  ///   - frame: a whole frame; an empty one has no payloads.
  ///   - descriptor: the descriptor of all payloads; the S bit is set in the first only, the partition index is 0 in
  ///     all.
  package func packetize(frame: ByteBuffer, descriptor: VP8PayloadDescriptor) -> [ByteBuffer] {
    var descriptor = descriptor
    descriptor.startsPartition = true
    descriptor.partitionIndex = 0
    let descriptorSize = descriptor.byteCount
    return frame.parts(ofAtMost: maximumPayloadSize - descriptorSize).map { part in
      var payload = ByteBuffer()
      payload.reserveCapacity(descriptorSize + part.readableBytes)
      descriptor.write(into: &payload)
      payload.writeImmutableBuffer(part)
      descriptor.startsPartition = false
      return payload
    }
  }
}
