import Glibc
import NIOCore

/// One file being written.
final class OutputFile {
  let name: String
  let path: String
  /// Bytes that are written and good.
  private(set) var size: Int64 = 0
  private var descriptor: CInt

  /// - Parameter descriptor: open for writing; owned from here on.
  init(descriptor: CInt, name: String, path: String) {
    self.descriptor = descriptor
    self.name = name
    self.path = path
  }

  deinit {
    if descriptor >= 0 { Glibc.close(descriptor) }
  }

  /// Writes all bytes or throws; then the file is as long as it was before.
  func write(_ write: FileWrite) throws(Recorder.DiskError) {
    var done = 0
    let total = write.bytes.readableBytes
    while done < total {
      let written = write.bytes.withUnsafeReadableBytes { bytes in
        pwrite(descriptor, bytes.baseAddress.map { $0 + done }, total - done, off_t(write.offset) + off_t(done))
      }
      if written > 0 {
        done += written
      } else if written == 0 || errno != EINTR {
        let error = Recorder.DiskError("write to", path, code: written == 0 ? EIO : errno)
        if write.offset + Int64(done) > size { ftruncate(descriptor, off_t(size)) }
        throw error
      }
    }
    size = max(size, write.offset + Int64(total))
  }

  /// Closes the file.
  ///
  /// - Parameter durably: whether it must be on the disk before this returns.
  func close(durably: Bool) throws(Recorder.DiskError) {
    guard descriptor >= 0 else { return }
    let synced = durably ? fsync(descriptor) : 0
    let code = errno
    let closed = Glibc.close(descriptor)
    descriptor = -1
    // Some file systems, pipes among them, cannot be synced; that is no loss.
    if synced != 0, code != EINVAL, code != ENOTSUP { throw Recorder.DiskError("store", path, code: code) }
    if closed != 0 { throw Recorder.DiskError("close", path) }
  }
}
