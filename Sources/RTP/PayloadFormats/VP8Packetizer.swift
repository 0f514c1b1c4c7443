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
  /// Sizes differ by one byte at most, because a small last packet would be more likely to overtake the others.
  ///
  /// - Parameters:
  ///   - frame: a whole frame; an empty one has no payloads.
  ///   - descriptor: the descriptor of all payloads; the S bit is set in the first only, the partition index is 0 in
  ///     all.
  package func packetize(frame: ByteBuffer, descriptor: VP8PayloadDescriptor) -> [ByteBuffer] {
    var rest = frame
    if rest.readableBytes == 0 { return [] }
    var descriptor = descriptor
    descriptor.partitionIndex = 0
    let descriptorSize = descriptor.byteCount
    let room = maximumPayloadSize - descriptorSize
    let count = (rest.readableBytes + room - 1) / room
    var payloads: [ByteBuffer] = []
    payloads.reserveCapacity(count)
    for remaining in stride(from: count, to: 0, by: -1) {
      guard let part = rest.readSlice(length: rest.readableBytes / remaining) else { break }
      descriptor.startsPartition = remaining == count
      var payload = ByteBuffer()
      payload.reserveCapacity(descriptorSize + part.readableBytes)
      descriptor.write(into: &payload)
      payload.writeImmutableBuffer(part)
      payloads.append(payload)
    }
    return payloads
  }
}
