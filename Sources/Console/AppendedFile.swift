internal import Glibc

/// Text that is added to the end of a file that other programs may write as well.
package enum AppendedFile {
  /// Why a file could not be written.
  package struct WriteError: Error, CustomStringConvertible {
    /// A clause, for example "permission denied".
    package let description: String

    fileprivate init(_ number: Int32) {
      let text = String(cString: strerror(number))
      description = text.prefix(1).lowercased() + text.dropFirst()
    }
  }

  /// Checks that text can be added to a file. It cannot be replaced, because other programs may have it open.
  package static func check(_ path: String) throws(WriteError) {
    var status = stat()
    if stat(path, &status) == 0 {
      if status.st_mode & S_IFMT == S_IFDIR { throw WriteError(EISDIR) }
      guard faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0 else { throw WriteError(errno) }
    } else if errno == ENOENT {
      let end = path.utf8.lastIndex(of: UInt8(ascii: "/"))
      let folder = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
      guard faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0 else { throw WriteError(errno) }
    } else {
      throw WriteError(errno)
    }
  }

  /// Adds text to a file, and creates the file if it does not exist.
  ///
  /// - Parameter text: Makes the text from the present size of the file, in bytes.
  package static func append(to path: String, _ text: (_ size: Int) -> String) throws(WriteError) {
    let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw WriteError(errno) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw WriteError(errno) }
    var left = Array(text(max(0, Int(status.st_size))).utf8)[...]
    while !left.isEmpty {
      let count = left.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        left = left.dropFirst(count)
      } else if errno != EINTR {
        throw WriteError(errno)
      }
    }
  }
}
