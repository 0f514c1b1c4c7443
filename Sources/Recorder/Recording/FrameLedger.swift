import NIOCore

/// How many frames of a file are not on the disk.
struct FrameLedger: Sendable {
  /// Frames of one write, and where that ends in the file.
  private var writes = CircularBuffer<(end: Int64, frames: UInt64)>()
  /// Frames that no write holds.
  private var loose: UInt64 = 0

  /// A frame came.
  mutating func add() { loose += 1 }

  /// Writes went into line that hold all frames so far but the last `kept`.
  ///
  /// - Parameter size: how much of the file is on the disk.
  mutating func put(_ writes: [FileWrite], keeping kept: UInt64 = 0, size: Int64) {
    while let first = self.writes.first, first.end <= size { self.writes.removeFirst() }
    guard let last = writes.last, loose > kept else { return }
    self.writes.append((last.offset + Int64(last.bytes.readableBytes), loose - kept))
    loose = kept
  }

  /// How many frames are missing while so much of the file is on the disk.
  func missing(size: Int64) -> UInt64 {
    writes.reduce(loose) { $1.end > size ? $0 + $1.frames : $0 }
  }
}
