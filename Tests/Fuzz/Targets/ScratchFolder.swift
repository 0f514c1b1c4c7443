import Glibc

/// A folder in memory for code that reads files by path. It is deleted with the last reference.
final class ScratchFolder {
  let path: String
  private var names: Set<String> = []

  private static let parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"

  init() throws(InvariantViolation) {
    var template = Array("\(Self.parent)/chatbot-fuzz-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else { throw InvariantViolation("No folder can be created in \(Self.parent).") }
    path = String(cString: made)
  }

  deinit {
    for name in names { unlink("\(path)/\(name)") }
    if rmdir(path) == 0 { return }
    // The target has created files of its own.
    guard let folder = opendir(path) else { return }
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name != ".", name != ".." { unlink("\(path)/\(name)") }
    }
    closedir(folder)
    rmdir(path)
  }

  /// Writes a file.
  ///
  /// - Returns: Its path.
  @discardableResult
  func write(_ bytes: [UInt8], as name: String) throws(InvariantViolation) -> String {
    let file = "\(path)/\(name)"
    let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw InvariantViolation("\(file) cannot be written.") }
    names.insert(name)
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes {
        Glibc.write(descriptor, $0.baseAddress.map { $0 + done }, bytes.count - done)
      }
      if count <= 0 { break }
      done += count
    }
    close(descriptor)
    return file
  }
}
