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
    private var seconds: Int
    private var nanoseconds: Int
    private var bytes: Int64
    private var mode: UInt32

    /// Nil if there is no file.
    package init?(_ path: String) {
      var status = stat()
      guard stat(path, &status) == 0 else { return nil }
      inode = UInt64(status.st_ino)
      seconds = status.st_mtim.tv_sec
      nanoseconds = status.st_mtim.tv_nsec
      bytes = Int64(status.st_size)
      mode = status.st_mode
    }
  }

  /// Returns what is wrong with the rights of a file; nil if only its owner, who is this user, may read it.
  package static func problem(_ path: String) -> String? {
    var status = stat()
    guard stat(path, &status) == 0 else { return "\(path) cannot be read: \(String(cString: strerror(errno)))." }
    if status.st_mode & S_IFMT != S_IFREG { return "\(path) is not a file." }
    if status.st_mode & 0o077 != 0 { return "Others may read \(path): its mode must be 0600 (chmod 600)." }
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

  /// Appends a text to a file, which is created with the mode 0600 if it is missing.
  package static func append(_ path: String, _ text: String) throws(WriteError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw WriteError(path, errno) }
    try write(text, to: descriptor, path)
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
