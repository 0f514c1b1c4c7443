internal import Glibc

/// A file that appears under its name when it is complete. Until then it has another name.
final class OutputFile {
  let descriptor: Int32
  let path: String
  private let temporary: String
  private let overwrites: Bool
  private var isComplete = false

  /// - Parameters:
  ///   - temporary: its name until then, on the same file system; nil for one beside it. A file of that name is overwritten.
  ///   - overwrites: whether it may replace a file.
  init(_ path: String, temporary: String? = nil, overwrites: Bool) throws(OutputFailure) {
    self.path = path
    self.overwrites = overwrites
    guard overwrites || access(path, F_OK) != 0 else {
      throw OutputFailure(.exists, "“\(path)” is there already; --force overwrites it.")
    }
    self.temporary = temporary ?? "\(path).\(getpid()).part"
    if temporary != nil { unlink(self.temporary) }
    descriptor = open(self.temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o644)
    guard descriptor >= 0 else { throw .disk(path, errno) }
  }

  deinit {
    guard descriptor >= 0 else { return }
    close(descriptor)
    if !isComplete { unlink(temporary) }
  }

  /// Gives it its name.
  func complete() throws(OutputFailure) {
    guard fsync(descriptor) == 0 else { throw .disk(path, errno) }
    // A link never replaces a file that somebody has made meanwhile; some file systems have none.
    if !overwrites, link(temporary, path) == 0 {
      unlink(temporary)
    } else if !overwrites, errno == EEXIST || access(path, F_OK) == 0 {
      throw OutputFailure(.exists, "“\(path)” is there already; --force overwrites it.")
    } else if rename(temporary, path) != 0 {
      throw .disk(path, errno)
    }
    isComplete = true
  }
}
