package import NIOCore

/// Finds the occurrences of a byte pattern in a file, one after the other.
struct ByteSearch {
  private static let windowLength = 256 << 10

  private let pattern: [UInt8]
  private let source: any ByteSource
  /// The offset at which the search continues.
  private var position: Int64
  /// The part of the file in memory, and its offset.
  private var window = ByteBuffer()
  private var start: Int64 = 0

  /// - Parameter pattern: at least one byte.
  init(for pattern: [UInt8], in source: any ByteSource, from position: Int64) {
    self.pattern = pattern
    self.source = source
    self.position = position
  }

  /// Returns the offset of the next occurrence.
  mutating func next() throws(RoomRecorder.StorageError) -> Int64? {
    while position + Int64(pattern.count) <= source.size {
      let offset = position - start
      if offset < 0 || offset + Int64(pattern.count) > Int64(window.readableBytes) {
        window = try source.read(at: position, count: Self.windowLength)
        start = position
        if window.readableBytes < pattern.count { return nil }
      }
      if let found = find(from: Int(position - start)) {
        position = start + Int64(found) + 1
        return position - 1
      }
      position = start + Int64(window.readableBytes - pattern.count + 1)
    }
    return nil
  }

  private func find(from first: Int) -> Int? {
    window.withUnsafeReadableBytes { bytes in
      (first...(bytes.count - pattern.count)).first { start in
        bytes[start] == pattern[0] && pattern.indices.allSatisfy { bytes[start + $0] == pattern[$0] }
      }
    }
  }
}

/// The bytes of a file to be examined, without loading it completely.
package protocol ByteSource: AnyObject {
  /// The file's size when it was opened.
  var size: Int64 { get }

  /// Reads bytes at an offset; returns fewer than requested at the end of the file.
  func read(at offset: Int64, count: Int) throws(RoomRecorder.StorageError) -> ByteBuffer
}
