internal import CFiles
internal import Glibc
internal import Media

/// Room on the disk of the data folder that is given up when the database has none: what is uploaded must be noted before its copy can
/// make room. Its calls block for a moment.
final class SpareSpace: Sendable {
  private let path: String
  private let bytes: Int64

  /// - Parameter folder: the data folder.
  init(folder: String, bytes: Int64 = 16 << 20) {
    path = "\(folder)/spare"
    self.bytes = bytes
  }

  /// Takes the room, unless it is taken.
  func reserve() {
    if access(path, F_OK) == 0 { return }
    let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { return }
    if cfiles_reserve(file, 0, bytes) != 0 { unlink(path) }
    close(file)
  }

  /// Gives the room up.
  ///
  /// - Returns: whether there was some.
  func release() -> Bool { unlink(path) == 0 }
}
