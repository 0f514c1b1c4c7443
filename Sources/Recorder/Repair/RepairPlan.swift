import NIOCore

/// What makes a file whole that was never closed.
struct RepairPlan: Sendable, Hashable {
  /// Where the last frame ends that is there as a whole: the file is cut off behind it.
  var truncation: Int64
  /// What is written first, in stages: each has to lie on the disk before the next one is written. Any part of it leaves a
  /// file that can be read as far as before.
  var stages: [[FileWrite]] = []
  /// What says that the file is whole, and is written last.
  var head: [FileWrite] = []
  /// How long the file plays then.
  var duration: Duration

  /// Makes the file whole. Whatever fails, and wherever the program is killed, what remains can be read as far as before,
  /// and repaired again.
  func carryOut(on target: any RepairTarget) throws(RoomRecorder.StorageError) {
    if truncation < target.size { try target.truncate(to: truncation) }
    do {
      for stage in stages {
        for write in stage { try target.write(write) }
        try target.sync()
      }
    } catch {
      // What lies behind the frames is of no use without the rest.
      try? target.truncate(to: truncation)
      throw error
    }
    if head.isEmpty { return }
    for write in head { try target.write(write) }
    try target.sync()
  }
}

/// A file that is to be repaired: what a repair does to it, so that tests can have one that fails or stops anywhere.
protocol RepairTarget: ByteSource {
  /// Cuts the file off.
  func truncate(to size: Int64) throws(RoomRecorder.StorageError)
  /// Writes all bytes or throws; then some of them may be written.
  func write(_ write: FileWrite) throws(RoomRecorder.StorageError)
  /// Waits until all that was written lies on the disk.
  func sync() throws(RoomRecorder.StorageError)
}
