import Glibc
import NIOCore

/// A file of a recording, opened for repair, and locked so that no other process writes it meanwhile.
final class OpenRecording: RepairTarget {
  enum Failure: Error {
    /// A recorder is writing it.
    case busy
    case notAFile
    case disk(RoomRecorder.StorageError)
  }

  /// The number of bytes that are read at once.
  private static let window = 1 << 20

  let path: String
  let size: Int64
  private let descriptor: CInt
  private var start: Int64 = 0
  private var bytes = ByteBuffer()

  /// - Parameters:
  ///   - followsLinks: false for a name that the user did not enter.
  ///   - writes: whether the file will be changed.
  init(path: String, followsLinks: Bool = true, writes: Bool = true) throws(Failure) {
    self.path = path
    // Non-blocking, so that opening a pipe does not wait for its other end.
    let flags = O_CLOEXEC | O_NONBLOCK | (writes ? O_RDWR : O_RDONLY) | (followsLinks ? 0 : O_NOFOLLOW)
    let opened = open(path, flags)
    if opened < 0 {
      if errno == EISDIR || errno == ENXIO { throw .notAFile }
      throw .disk(RoomRecorder.StorageError("open", path))
    }
    descriptor = opened
    var about = stat()
    guard fstat(opened, &about) == 0, about.st_mode & S_IFMT == S_IFREG else {
      size = 0
      throw .notAFile
    }
    size = Int64(about.st_size)
    if flock(opened, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK { throw .busy }
  }

  deinit {
    // A child process that is being started right now also has the file open, and would keep the lock.
    _ = flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  func read(at offset: Int64, count: Int) throws(RoomRecorder.StorageError) -> ByteBuffer {
    let wanted = Int(min(Int64(count), max(0, size - offset)))
    if offset < start || offset + Int64(wanted) > start + Int64(bytes.readableBytes) {
      bytes = try load(at: offset, count: max(wanted, Self.window))
      start = offset
    }
    let position = Int(offset - start)
    return bytes.getSlice(at: position, length: min(wanted, max(0, bytes.readableBytes - position))) ?? ByteBuffer()
  }

  private func load(at offset: Int64, count: Int) throws(RoomRecorder.StorageError) -> ByteBuffer {
    var buffer = ByteBuffer()
    while buffer.readableBytes < count {
      let done = buffer.readableBytes
      var failure: CInt = 0
      let got = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count - done) { space in
        let got = pread(descriptor, space.baseAddress, count - done, off_t(offset) + off_t(done))
        if got < 0 { failure = errno }
        return max(0, got)
      }
      // A read error must not be treated as the end of the file.
      if failure != 0, failure != EINTR { throw RoomRecorder.StorageError("read", path, code: failure) }
      if got == 0, failure == 0 { break }
    }
    return buffer
  }

  func truncate(to size: Int64) throws(RoomRecorder.StorageError) {
    if ftruncate(descriptor, off_t(size)) != 0 { throw RoomRecorder.StorageError("shorten", path) }
  }

  func write(_ write: FileWrite) throws(RoomRecorder.StorageError) {
    var done = 0
    let total = write.bytes.readableBytes
    while done < total {
      let written = write.bytes.withUnsafeReadableBytes { bytes in
        pwrite(descriptor, bytes.baseAddress.map { $0 + done }, total - done, off_t(write.offset) + off_t(done))
      }
      if written > 0 {
        done += written
      } else if written == 0 || errno != EINTR {
        throw RoomRecorder.StorageError("write to", path, code: written == 0 ? EIO : errno)
      }
    }
  }

  func sync() throws(RoomRecorder.StorageError) {
    if fsync(descriptor) != 0, errno != EINVAL, errno != ENOTSUP { throw RoomRecorder.StorageError("store", path) }
  }
}
