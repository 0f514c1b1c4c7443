internal import Glibc

/// Text that is added to the end of a file that other programs may write as well.
package enum AppendedFile {
  /// Why a file could not be written.
  package struct WriteError: Error {
    /// A clause, for example "permission denied".
    package let reason: String

    fileprivate init(_ number: Int32) {
      let text = String(cString: strerror(number))
      reason = text.prefix(1).lowercased() + text.dropFirst()
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
