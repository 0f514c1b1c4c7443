package import NIOCore

/// A file of a recording: the part that is on the disk, and the queue of writes that are not.
///
/// It is created together with its first content, so that it is never visible while it cannot be opened. Writes that
/// fail stay in the queue, in order, and the next `store()` retries them.
final class AppendFile {
  private enum Step {
    /// - Parameter room: bytes of free space that the file must still have after the write.
    case write(FileWrite, room: Int64)
    case sync
    case close
  }

  let name: String
  private let folder: RecordingDirectory
  private var output: OutputFile?
  private var steps = CircularBuffer<Step>()
  /// Bytes in the queue.
  private(set) var waitingBytes = 0
  /// Bytes that were written successfully.
  private(set) var size: Int64 = 0
  /// Whether it was closed properly.
  private(set) var isComplete = false
  /// Bytes needed to close the file: space for them is reserved before anything else is written.
  var closingSize: Int64 = 0
  /// The end of the frames, if the file was closed without its queued writes; nil otherwise.
  private(set) var framesEnd: Int64?

  init(name: String, in folder: RecordingDirectory) {
    self.name = name
    self.folder = folder
  }

  var exists: Bool { output != nil || size > 0 }
  var isWaiting: Bool { !steps.isEmpty }

  /// Queues writes.
  ///
  /// - Parameter isClosing: whether the writes close the file themselves, so that no space must remain after them.
  func put(_ writes: [FileWrite], isClosing: Bool = false) {
    for write in writes {
      waitingBytes += write.bytes.readableBytes
      steps.append(.write(write, room: isClosing ? 0 : closingSize))
    }
  }

  /// Queues a barrier: later writes may only start when all earlier ones are on the disk.
  func putBarrier() { steps.append(.sync) }

  /// Queues closing the file.
  func putEnd() { steps += [.sync, .close] }

  /// Carries out the queued steps; a failed step and all later ones stay in the queue.
  func store() throws(RoomRecorder.StorageError) {
    if output == nil, isWaiting, size == 0 { try create() }
    while let step = steps.first, let output {
      switch step {
      case .write(let write, let room):
        try output.write(write, leaving: room)
        size = output.size
        waitingBytes -= write.bytes.readableBytes
      case .sync: try output.sync()
      case .close:
        self.output = nil
        // Everything was synced; a failing close loses nothing.
        try? output.close()
        isComplete = true
      }
      steps.removeFirst()
    }
  }

  /// Closes the file without its queued writes.
  ///
  /// - Parameters:
  ///   - writes: the writes that close the file as it is on the disk; empty if it is closed already.
  ///   - last: the writes that may only start when all of `writes` is on the disk.
  func close(with writes: [FileWrite], last: [FileWrite]) throws(RoomRecorder.StorageError) {
    guard let output else { return }
    framesEnd = framesEnd ?? size
    defer { size = output.size }
    for write in writes { try output.write(write) }
    try output.sync()
    for write in last { try output.write(write) }
    try output.sync()
    try? output.close()
    self.output = nil
    steps.removeAll()
    waitingBytes = 0
    isComplete = true
  }

  /// Leaves the file as it is on the disk, and discards the queued writes.
  func abandon() {
    try? output?.close()
    output = nil
    steps.removeAll()
    waitingBytes = 0
  }

  /// Creates the file with all queued writes that are contiguous.
  private func create() throws(RoomRecorder.StorageError) {
    var content = ByteBuffer()
    var count = 0
    var bytes = 0
    for step in steps {
      guard case .write(let write, _) = step, write.offset <= Int64(content.writerIndex) else { break }
      content.setBuffer(write.bytes, at: Int(write.offset))
      content.moveWriterIndex(to: max(content.writerIndex, Int(write.offset) + write.bytes.readableBytes))
      count += 1
      bytes += write.bytes.readableBytes
    }
    output = try folder.create(name, containing: content)
    size = Int64(content.readableBytes)
    // The file exists in any case. If there is no space now, the next write tries to reserve it again.
    try? output?.reserve(size + closingSize)
    waitingBytes -= bytes
    steps.removeFirst(count)
  }
}

/// Bytes for one position in a file: the writers return these values, and `Storage` carries them out.
///
/// The offset is part of the value, so a write that failed halfway can be repeated as it is.
package struct FileWrite: Sendable, Hashable {
  /// The offset from the start of the file, in bytes.
  package let offset: Int64
  package let bytes: ByteBuffer

  /// - Parameter offset: the offset from the start of the file, in bytes.
  package init(offset: Int64, bytes: ByteBuffer) {
    self.offset = offset
    self.bytes = bytes
  }
}
