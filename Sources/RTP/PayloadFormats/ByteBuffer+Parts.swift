import NIOCore

extension ByteBuffer {
  /// Returns the readable bytes in as few parts as possible of at most so many bytes, at least 1.
  ///
  /// Their sizes differ by one byte at most, because a small last packet would be more likely to overtake the others.
  func parts(ofAtMost maximumSize: Int) -> [ByteBuffer] {
    var rest = self
    let count = (rest.readableBytes + maximumSize - 1) / maximumSize
    var parts: [ByteBuffer] = []
    parts.reserveCapacity(count)
    for remaining in stride(from: count, to: 0, by: -1) {
      if let part = rest.readSlice(length: rest.readableBytes / remaining) { parts.append(part) }
    }
    return parts
  }
}
