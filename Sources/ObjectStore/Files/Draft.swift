internal import Glibc

/// An object that is being written, under a temporary name that is removed at the end. It is locked, so that nobody takes it for
/// abandoned.
final class Draft {
  let path: String
  private let descriptor: Int32

  /// - Throws: an ``ObjectStoreError``.
  init(in folder: String) throws(ObjectStoreError) {
    var source = SystemRandomNumberGenerator()
    path = "\(folder)/\(String(source.next(), radix: 36)).part"
    descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .system("created", path) }
    _ = flock(descriptor, LOCK_EX | LOCK_NB)
  }

  deinit {
    if descriptor >= 0 {
      unlink(path)
      close(descriptor)
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(ObjectStoreError) {
    var done = 0
    while done < bytes.count {
      let written = Glibc.write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
      if written > 0 {
        done += written
      } else if written == 0 || errno != EINTR {
        throw .system("written", path, code: written == 0 ? EIO : errno)
      }
    }
  }

  /// Makes the content final: it is on the disk, and nobody may write it.
  func finish() throws(ObjectStoreError) {
    if fchmod(descriptor, 0o400) != 0 { throw .system("protected", path) }
    if fsync(descriptor) != 0 { throw .system("synchronised", path) }
  }
}
