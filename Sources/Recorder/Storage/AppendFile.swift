import NIOCore

/// A file of a recording: what of it lies on the disk, and what is still to go there.
///
/// It comes into being with its first content, so that there is no moment at which it is there but cannot be opened. What
/// cannot be written stays in line, in its order, and is tried again by the next `store()`.
final class AppendFile {
  private enum Step {
    /// - Parameter room: bytes behind it that there must be room for.
    case write(FileWrite, room: Int64)
    case sync
    case close
  }

  let name: String
  private let folder: RecordingDirectory
  private var output: OutputFile?
  private var steps = CircularBuffer<Step>()
  /// Bytes in line.
  private(set) var waitingBytes = 0
  /// Bytes that are written and good.
  private(set) var size: Int64 = 0
  /// Whether it was closed in good order.
  private(set) var isComplete = false
  /// Bytes that it takes to close the file: there is room for them before anything else is written.
  var closingSize: Int64 = 0
  /// Where the frames end; nil as long as all that was put into line can still be written.
  private(set) var framesEnd: Int64?

  init(name: String, in folder: RecordingDirectory) {
    self.name = name
    self.folder = folder
  }

  var exists: Bool { output != nil || size > 0 }
  var isWaiting: Bool { !steps.isEmpty }

  /// Puts writes into line.
  ///
  /// - Parameter isClosing: whether they need no room behind them to close the file, because they do that.
  func put(_ writes: [FileWrite], isClosing: Bool = false) {
    for write in writes {
      waitingBytes += write.bytes.readableBytes
      steps.append(.write(write, room: isClosing ? 0 : closingSize))
    }
  }

  /// What follows in line may only be written when everything before it lies on the disk.
  func putBarrier() { steps.append(.sync) }

  /// The file is to be closed when all that is in line has been written.
  func putEnd() { steps += [.sync, .close] }

  /// Does what stands in line; what fails, and all behind it, stays there.
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
        // Everything was synced; a close that fails loses nothing.
        try? output.close()
        isComplete = true
      }
      steps.removeFirst()
    }
  }

  /// Closes the file without what stands in line.
  ///
  /// - Parameters:
  ///   - writes: what closes the file as it is on the disk; empty if that is closed already.
  ///   - last: what may only be written when all of that lies on the disk.
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

  /// Lets the file be as it is on the disk, and forgets what was still to be written.
  func abandon() {
    try? output?.close()
    output = nil
    steps.removeAll()
    waitingBytes = 0
  }

  /// Makes the file out of all writes that leave no hole.
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
    // The file exists in any case. If there is no room now, the next write requests it again.
    try? output?.reserve(size + closingSize)
    waitingBytes -= bytes
    steps.removeFirst(count)
  }
}

/// Bytes that belong at one place of a file: what the writers give and `Storage` carries out.
///
/// The place is part of the value, so a write that failed halfway can be done again as it is.
struct FileWrite: Sendable, Hashable {
  /// Bytes from the start of the file.
  let offset: Int64
  let bytes: ByteBuffer
}
