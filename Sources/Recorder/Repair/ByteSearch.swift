import NIOCore

/// Finds a few bytes in a file, from a place on, one after the other.
struct ByteSearch {
  private static let windowLength = 256 << 10

  private let pattern: [UInt8]
  private let source: any ByteSource
  /// Where it is to go on.
  private var place: Int64
  /// A part of the file, and where that begins.
  private var window = ByteBuffer()
  private var start: Int64 = 0

  /// - Parameter pattern: at least one byte.
  init(for pattern: [UInt8], in source: any ByteSource, from place: Int64) {
    self.pattern = pattern
    self.source = source
    self.place = place
  }

  /// Where the pattern is found next.
  mutating func next() throws(RoomRecorder.StorageError) -> Int64? {
    while place + Int64(pattern.count) <= source.size {
      let offset = place - start
      if offset < 0 || offset + Int64(pattern.count) > Int64(window.readableBytes) {
        window = try source.read(at: place, count: Self.windowLength)
        start = place
        if window.readableBytes < pattern.count { return nil }
      }
      if let found = find(from: Int(place - start)) {
        place = start + Int64(found) + 1
        return place - 1
      }
      place = start + Int64(window.readableBytes - pattern.count + 1)
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

/// The bytes of a file that is to be looked at, without having it all in memory.
protocol ByteSource: AnyObject {
  /// The file's size when it was opened.
  var size: Int64 { get }

  /// Reads at a place; fewer bytes than asked for where the file ends.
  func read(at offset: Int64, count: Int) throws(RoomRecorder.StorageError) -> ByteBuffer
}
