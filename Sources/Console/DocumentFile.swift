internal import Glibc

/// Writes a document that an option requested to a file, completely or not at all.
package enum DocumentFile {
  /// Writes a text. A file is replaced by renaming a temporary file beside it, so that a reader sees the old or the new text; what
  /// is no file, such as a pipe or a device, is written directly.
  package static func write(_ text: String, to path: String) throws(OutputError) {
    var status = stat()
    let isThere = stat(path, &status) == 0
    if isThere, status.st_mode & S_IFMT != S_IFREG {
      if status.st_mode & S_IFMT == S_IFDIR { throw OutputError(number: EISDIR) }
      let descriptor = open(path, O_WRONLY | O_CLOEXEC)
      guard descriptor >= 0 else { throw OutputError(number: errno) }
      return try write(text, to: descriptor, syncs: false)
    }
    let mode = isThere ? status.st_mode & 0o777 : 0o644
    let draft = "\(path).\(String(UInt32.random(in: 0...UInt32.max), radix: 16)).part"
    let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
    guard descriptor >= 0 else { throw OutputError(number: errno) }
    do throws(OutputError) {
      try write(text, to: descriptor, syncs: true)
      guard rename(draft, path) == 0 else { throw OutputError(number: errno) }
    } catch {
      unlink(draft)
      throw error
    }
  }

  /// Throws if a file can probably not be written, so that this is known before there is anything to write.
  package static func check(_ path: String) throws(OutputError) {
    var status = stat()
    let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    if stat(path, &status) == 0 {
      if status.st_mode & S_IFMT == S_IFDIR { throw OutputError(number: EISDIR) }
      // A file is replaced, which needs the right to write its folder.
      let needed = status.st_mode & S_IFMT == S_IFREG ? folder : path
      if access(needed, W_OK) != 0 { throw OutputError(number: errno) }
    } else if access(folder, W_OK) != 0 {
      throw OutputError(number: errno)
    }
  }

  /// Writes the whole text and closes the descriptor.
  private static func write(_ text: String, to descriptor: Int32, syncs: Bool) throws(OutputError) {
    var failure: Int32 = 0
    var left = Array(text.utf8)[...]
    while !left.isEmpty, failure == 0 {
      let count = left.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        left = left.dropFirst(count)
      } else if errno != EINTR {
        failure = errno
      }
    }
    if failure == 0, syncs, fsync(descriptor) != 0, errno != EINVAL, errno != ENOTSUP { failure = errno }
    if close(descriptor) != 0, failure == 0, errno != EINTR { failure = errno }
    if failure != 0 { throw OutputError(number: failure) }
  }
}
