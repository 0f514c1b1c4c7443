import NIOCore

/// One file being written.
package final class OutputFile {
  let name: String
  let path: String
  /// Bytes that were written successfully.
  package private(set) var size: Int64 = 0
  /// The size up to which space is reserved, whether written or not.
  private var reserved: Int64 = 0
  private let disk: any FileSystem
  private var descriptor: FileSystem.Handle

  /// - Parameter descriptor: open for writing; this object closes it.
  package init(descriptor: FileSystem.Handle, name: String, path: String, disk: any FileSystem = POSIXFileSystem()) {
    self.descriptor = descriptor
    self.name = name
    self.path = path
    self.disk = disk
  }

  deinit {
    if descriptor >= 0 { try? disk.close(descriptor) }
  }

  /// Returns the same open file under its new name; this object loses ownership of the descriptor.
  func named(_ name: String, path: String) -> OutputFile {
    let file = OutputFile(descriptor: descriptor, name: name, path: path, disk: disk)
    file.size = size
    file.reserved = reserved
    descriptor = -1
    return file
  }

  /// Writes all bytes, or throws and restores the file's size.
  ///
  /// - Parameter room: bytes of space to reserve after them; nil to reserve nothing.
  package func write(_ write: FileWrite, leaving room: Int64? = nil) throws(RoomRecorder.StorageError) {
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
        releaseReservation()
      }
      throw RoomRecorder.StorageError("write to", path, code: error.code)
    }
    size = max(size, write.offset + Int64(total))
  }

  /// Ensures that there is space for the file to grow to a size.
  func reserve(_ length: Int64) throws(RoomRecorder.StorageError) {
    let known = max(size, reserved)
    if length <= known { return }
    do {
      try disk.reserve(known..<length, of: descriptor)
      reserved = length
    } catch {
      // Some file systems keep the part that they could reserve, which other files need.
      releaseReservation()
      throw RoomRecorder.StorageError("write to", path, code: error.code)
    }
  }

  /// Truncates the file to its successfully written part, and keeps the space that was reserved before.
  private func releaseReservation() {
    try? disk.truncate(descriptor, to: size)
    if reserved > size, (try? disk.reserve(size..<reserved, of: descriptor)) == nil { reserved = size }
  }

  /// Waits until everything written is on the disk.
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
    // Even after an error the descriptor is closed (close(2)).
    descriptor = -1
    do {
      try disk.close(closing)
    } catch {
      throw RoomRecorder.StorageError("close", path, code: error.code)
    }
  }
}
