internal import Glibc

/// Writes a document that an option requested to a file.
package enum DocumentFile {
  /// Checks that a document can be written to a path, as far as that is known before it is written.
  package static func check(_ path: String) throws(OutputError) {
    if path.isEmpty { throw OutputError(number: ENOENT) }
    let path = try target(of: path)
    var status = stat()
    if stat(path, &status) == 0 {
      if isFolder(status) { throw OutputError(number: EISDIR) }
      if mayUse(path, W_OK) { return }
      let failure = errno
      // A file may be replaced if only its folder can be written.
      guard isFile(status), mayUse(folder(of: path), W_OK | X_OK) else { throw OutputError(number: failure) }
    } else {
      guard errno == ENOENT, mayUse(folder(of: path), W_OK | X_OK) else { throw OutputError(number: errno) }
    }
  }

  /// The sentence for a document that could not be written, for example `a.json cannot be written: No space left on device.`
  ///
  /// - Parameter name: The path of the document, or another name for where it was to be written.
  package static func sentence(_ error: any Error, writing name: String) -> String {
    let reason = "\(error)"
    return "\(name) cannot be written: \(reason)\(reason.hasSuffix(".") ? "" : ".")"
  }

  /// Writes a text. A file is replaced by renaming a temporary file beside it, so that a reader sees the old or the new text, and keeps
  /// its permissions. A symbolic link stays, and the file to which it leads is replaced.
  ///
  /// A pipe or a device is written directly, and so is a file that cannot be replaced, because of the permissions of its folder or
  /// because it is a mount point.
  package static func write(_ text: String, to path: String) throws(OutputError) {
    let path = try target(of: path)
    var status = stat()
    let exists = stat(path, &status) == 0
    if exists, isFolder(status) { throw OutputError(number: EISDIR) }
    if exists, !isFile(status) { return try write(text, directly: path, flags: 0) }
    let draft = "\(path).\(String(UInt32.random(in: 0...UInt32.max), radix: 16)).part"
    let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o644)
    guard descriptor >= 0 else { return try write(text, directly: path, after: errno) }
    var cause: Int32 = 0
    do throws(OutputError) {
      // The process's mask does not apply to permissions that the file had. Some file systems have none.
      if exists { fchmod(descriptor, status.st_mode & 0o777) }
      try write(text, to: descriptor, syncs: true)
      if rename(draft, path) == 0 { return }
      cause = errno
    } catch {
      unlink(draft)
      throw error
    }
    unlink(draft)
    try write(text, directly: path, after: cause)
  }

  /// Writes into the file itself, if the error says that it cannot be replaced.
  private static func write(_ text: String, directly path: String, after cause: Int32) throws(OutputError) {
    guard [EACCES, EPERM, EROFS, EBUSY, EXDEV, ENAMETOOLONG].contains(cause) else { throw OutputError(number: cause) }
    try write(text, directly: path, flags: O_CREAT | O_TRUNC)
  }

  private static func write(_ text: String, directly path: String, flags: Int32) throws(OutputError) {
    let descriptor = open(path, O_WRONLY | O_CLOEXEC | flags, 0o644)
    guard descriptor >= 0 else { throw OutputError(number: errno) }
    try write(text, to: descriptor, syncs: flags != 0)
  }

  /// Returns the path to which symbolic links lead, whether there is a file or not.
  private static func target(of path: String) throws(OutputError) -> String {
    var path = path
    for _ in 0..<40 {
      var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
      let count = readlink(path, &buffer, buffer.count)
      if count < 0 { return path }
      let link = String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
      path = link.hasPrefix("/") ? link : "\(folder(of: path))/\(link)"
    }
    throw OutputError(number: ELOOP)
  }

  private static func folder(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Whether the rights with which files are opened suffice: not those of the user who started the program.
  private static func mayUse(_ path: String, _ mode: Int32) -> Bool { faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0 }

  private static func isFile(_ status: stat) -> Bool { status.st_mode & S_IFMT == S_IFREG }
  private static func isFolder(_ status: stat) -> Bool { status.st_mode & S_IFMT == S_IFDIR }

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
