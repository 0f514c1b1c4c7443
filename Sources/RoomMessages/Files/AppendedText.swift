import FoundationEssentials
import Glibc

/// Appends whole lines to files, so that a crash leaves only whole ones.
enum AppendedText {
  /// Appends in one write; creates the file if it is missing.
  static func append(
    _ bytes: Data, to name: String, in folder: Int32, path: String, flags: Int32 = 0
  ) throws(FileTransferError) {
    let descriptor = openat(
      folder, name, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | flags, 0o600)
    guard descriptor >= 0 else { throw FileTransferError("opened", "\(path)/\(name)") }
    defer { close(descriptor) }
    try append(bytes, to: descriptor, "\(path)/\(name)")
  }

  static func append(_ bytes: Data, to descriptor: Int32, _ path: String) throws(FileTransferError) {
    let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    guard count == bytes.count else { throw FileTransferError("written", path) }
  }
}
