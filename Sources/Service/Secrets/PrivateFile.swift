import CFiles
import Glibc

/// Files that only their owner may read: keys and tokens.
package enum PrivateFile {
  package struct WriteError: Error, Sendable, CustomStringConvertible {
    package let description: String

    init(_ path: String, _ number: Int32) {
      let reason = String(cString: strerror(number))
      description = "\(path) cannot be written: \(reason.prefix(1).lowercased() + reason.dropFirst())."
    }
  }

  /// What changes when a file does.
  package struct Version: Sendable, Hashable {
    private var inode: UInt64
    private var seconds: Int64
    private var nanoseconds: Int64
    private var bytes: Int64
    fileprivate var mode: UInt32
    fileprivate var isPlain: Bool

    /// Nil if there is no file.
    package init?(_ path: String) {
      var version = cfiles_version()
      guard cfiles_read_version(path, &version) == 0 else { return nil }
      inode = version.inode
      seconds = version.seconds
      nanoseconds = version.nanoseconds
      bytes = version.bytes
      mode = version.mode
      isPlain = version.is_plain != 0
    }
  }

  /// Returns what is wrong with the rights of a file; nil if only its owner, who is this user, may read it.
  package static func problem(_ path: String) -> String? {
    guard let version = Version(path) else { return "\(path) cannot be read." }
    guard version.isPlain else { return "\(path) is not a file." }
    if version.mode & 0o077 != 0 { return "Others may read \(path): its mode must be 0600 (chmod 600)." }
    return nil
  }

  /// Creates a file with the mode 0600.
  ///
  /// - Returns: false if there is one with this name.
  @discardableResult
  package static func create(_ path: String, _ text: String) throws(WriteError) -> Bool {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    if descriptor < 0, errno == EEXIST { return false }
    guard descriptor >= 0 else { throw WriteError(path, errno) }
    try write(text, to: descriptor, path)
    return true
  }

  /// Appends a line to a file, which is created with the mode 0600 if it is missing.
  ///
  /// - Parameter line: without its end.
  package static func append(_ path: String, line: String) throws(WriteError) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw WriteError(path, errno) }
    // An editor may have left the last line without an end.
    var last = UInt8(ascii: "\n")
    let size = lseek(descriptor, 0, SEEK_END)
    if size > 0 { _ = pread(descriptor, &last, 1, size - 1) }
    try write((last == UInt8(ascii: "\n") ? "" : "\n") + line + "\n", to: descriptor, path)
  }

  private static func write(_ text: String, to descriptor: Int32, _ path: String) throws(WriteError) {
    defer { close(descriptor) }
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw WriteError(path, errno) }
      rest = rest.dropFirst(count)
    }
    guard fsync(descriptor) == 0 else { throw WriteError(path, errno) }
  }
}
