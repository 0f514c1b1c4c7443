import NIOCore

/// One file being written.
final class OutputFile {
  let name: String
  let path: String
  /// Bytes that are written and good.
  private(set) var size: Int64 = 0
  /// Bytes that there is room for, written or not.
  private var reserved: Int64 = 0
  private let disk: any FileSystem
  private var descriptor: FileSystem.Handle

  /// - Parameter descriptor: open for writing; owned from here on.
  init(descriptor: FileSystem.Handle, name: String, path: String, disk: any FileSystem = POSIXFileSystem()) {
    self.descriptor = descriptor
    self.name = name
    self.path = path
    self.disk = disk
  }

  deinit {
    if descriptor >= 0 { try? disk.close(descriptor) }
  }

  /// The same open file under the name that it has got; this object gives it away.
  func named(_ name: String, path: String) -> OutputFile {
    let file = OutputFile(descriptor: descriptor, name: name, path: path, disk: disk)
    file.size = size
    file.reserved = reserved
    descriptor = -1
    return file
  }

  /// Writes all bytes or throws; then the file is as long as it was before.
  ///
  /// - Parameter room: bytes behind them that there must be room for as well; nil to write without requesting room.
  func write(_ write: FileWrite, leaving room: Int64? = nil) throws(RoomRecorder.StorageError) {
    if let room { try reserve(max(size, write.offset + Int64(write.bytes.readableBytes)) + room) }
    var done = 0
    let total = write.bytes.readableBytes
    do throws(SystemError) {
      while done < total {
        done += try write.bytes.withUnsafeReadableBytes { (bytes) throws(SystemError) -> Int in
          try disk.write(
            UnsafeRawBufferPointer(rebasing: bytes[done...]), at: write.offset + Int64(done), of: descriptor)
        }
      }
    } catch {
      if write.offset + Int64(done) > size {
        giveBackRoom()
      }
      throw RoomRecorder.StorageError("write to", path, code: error.code)
    }
    size = max(size, write.offset + Int64(total))
  }

  /// Makes sure that the file can grow to a length.
  func reserve(_ length: Int64) throws(RoomRecorder.StorageError) {
    let known = max(size, reserved)
    if length <= known { return }
    do {
      try disk.reserve(known..<length, of: descriptor)
      reserved = length
    } catch {
      // Some file systems keep what they could get, which others need.
      giveBackRoom()
      throw RoomRecorder.StorageError("write to", path, code: error.code)
    }
  }

  /// Makes the file as long as what is good of it, and keeps the room that it had.
  private func giveBackRoom() {
    try? disk.truncate(descriptor, to: size)
    if reserved > size, (try? disk.reserve(size..<reserved, of: descriptor)) == nil { reserved = size }
  }

  /// Waits until all that was written lies on the disk.
  func sync() throws(RoomRecorder.StorageError) {
    do {
      try disk.sync(descriptor)
    } catch {
      throw RoomRecorder.StorageError("store", path, code: error.code)
    }
  }

  /// Closes the file.
  func close() throws(RoomRecorder.StorageError) {
    guard descriptor >= 0 else { return }
    if reserved > size { try? disk.truncate(descriptor, to: size) }
    let closing = descriptor
    // After an error, too, nothing is left to be closed (close(2)).
    descriptor = -1
    do {
      try disk.close(closing)
    } catch {
      throw RoomRecorder.StorageError("close", path, code: error.code)
    }
  }
}
