import NIOCore

/// The bytes of a frame that is being assembled.
struct FramePayload: Sendable {
  /// The maximum number of bytes that are reserved in advance: the size of a larger frame says little about the next one.
  private static let usualSize = 16 << 10

  var bytes = ByteBuffer()
  /// The size of the last frame in bytes, which the next one is likely to have as well.
  private var lastSize = 0

  /// Prepares for `count` more bytes, and returns whether the frame may have them.
  mutating func reserve(_ count: Int) -> Bool {
    guard bytes.readableBytes + count <= FrameLimits.maximumSize else { return false }
    if bytes.readableBytes == 0 { bytes.reserveCapacity(max(min(lastSize, Self.usualSize), count)) }
    return true
  }

  /// Removes and returns the bytes: the next frame begins.
  mutating func take() -> ByteBuffer {
    lastSize = bytes.readableBytes
    defer { bytes = ByteBuffer() }
    return bytes
  }
}
