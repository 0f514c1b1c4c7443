import NIOCore

/// A file of a recording: what of it lies on the disk, and what is still to go there.
///
/// It comes into being with its first content, so that there is no moment at which it is there but cannot be opened. What
/// cannot be written stays in line, in its order, and is tried again by the next `store()`.
final class GrowingFile {
  private enum Step {
    case write(FileWrite)
    case sync
    case close
  }

  let name: String
  private let folder: Folder
  private var output: OutputFile?
  private var steps = CircularBuffer<Step>()
  /// Bytes in line.
  private(set) var waitingBytes = 0
  /// Bytes that are written and good.
  private(set) var size: Int64 = 0
  /// Whether it was closed with all that belongs into it.
  private(set) var isComplete = false

  init(name: String, in folder: Folder) {
    self.name = name
    self.folder = folder
  }

  var exists: Bool { output != nil || size > 0 }
  var isWaiting: Bool { !steps.isEmpty }

  /// Puts writes into line.
  func put(_ writes: [FileWrite]) {
    for write in writes {
      waitingBytes += write.bytes.readableBytes
      steps.append(.write(write))
    }
  }

  /// What follows in line may only be written when everything before it lies on the disk.
  func putBarrier() { steps.append(.sync) }

  /// The file is to be closed when all that is in line has been written.
  func putEnd() { steps += [.sync, .close] }

  /// Does what stands in line; what fails, and all behind it, stays there.
  func store() throws(Recorder.DiskError) {
    if output == nil, isWaiting, size == 0 { try create() }
    while let step = steps.first, let output {
      switch step {
      case .write(let write):
        try output.write(write)
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

  /// Lets the file be as it is on the disk, and forgets what was still to be written.
  func abandon() {
    output = nil
    steps.removeAll()
    waitingBytes = 0
  }

  /// Makes the file out of all writes that leave no hole.
  private func create() throws(Recorder.DiskError) {
    var content = ByteBuffer()
    var count = 0
    var bytes = 0
    for step in steps {
      guard case .write(let write) = step, write.offset <= Int64(content.writerIndex) else { break }
      content.setBuffer(write.bytes, at: Int(write.offset))
      content.moveWriterIndex(to: max(content.writerIndex, Int(write.offset) + write.bytes.readableBytes))
      count += 1
      bytes += write.bytes.readableBytes
    }
    output = try folder.create(name, containing: content)
    size = Int64(content.readableBytes)
    waitingBytes -= bytes
    steps.removeFirst(count)
  }
}
