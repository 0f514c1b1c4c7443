import Glibc

/// The folder of the service, locked while the service lives: a second service refuses to start there.
package final class DataFolder: Sendable {
  /// The absolute path.
  package let path: String
  private let lock: Int32

  package struct Failure: Error, Sendable, CustomStringConvertible {
    package let description: String
  }

  /// Creates the folder with the mode 0700 if it is missing, and locks it. Blocks.
  package init(_ path: String) throws(Failure) {
    func failure(_ path: String) -> Failure {
      Failure(description: "\(path) cannot be used: \(String(cString: strerror(errno))).")
    }
    try Self.create(path)
    guard let resolved = realpath(path, nil) else { throw failure(path) }
    defer { free(resolved) }
    let absolute = String(cString: resolved)
    let file = "\(absolute)/service.lock"
    let lock = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard lock >= 0 else { throw failure(file) }
    guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
      let isHeld = errno == EWOULDBLOCK
      let error = failure(file)
      close(lock)
      throw isHeld ? Failure(description: "Another service uses the folder \(absolute).") : error
    }
    // Only now: an object that has all its values closes the lock also where this initializer throws.
    (self.path, self.lock) = (absolute, lock)
  }

  deinit { close(lock) }

  /// Creates a folder and those around it.
  private static func create(_ path: String) throws(Failure) {
    var made = path.utf8.first == UInt8(ascii: "/") ? "/" : ""
    for part in path.split(separator: "/") {
      made += made.isEmpty || made.utf8.last == UInt8(ascii: "/") ? String(part) : "/\(part)"
      if mkdir(made, 0o700) != 0, errno != EEXIST {
        throw Failure(description: "\(made) cannot be created: \(String(cString: strerror(errno))).")
      }
    }
  }
}
