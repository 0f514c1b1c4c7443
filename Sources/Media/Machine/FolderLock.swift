internal import Glibc

/// Says that a program writes into a folder: a lock of the folder itself, which several programs share (flock(2)). Where the file
/// system has no locks, nobody is seen.
package final class FolderLock: Sendable {
  private let descriptor: CInt

  /// Locks a folder until the object or the process ends; nil if there is no such folder.
  package init?(sharing folder: String) {
    descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    // A program that looks whether the folder is locked has the lock for a moment.
    for _ in 0..<Self.tries {
      if flock(descriptor, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK { return }
      usleep(1_000)
    }
  }

  private static let tries = 50

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Whether a program has locked a folder.
  package static func isHeld(_ folder: String) -> Bool {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
  }
}
