import Foundation

/// A file that appears under its name when it is complete. Until then it has another name beside it.
final class OutputFile {
  let descriptor: Int32
  private let path: String
  private let temporary: String
  private let overwrites: Bool
  private var isComplete = false

  init(_ path: String, overwrites: Bool) throws(RemuxFailure) {
    self.path = path
    self.overwrites = overwrites
    guard overwrites || access(path, F_OK) != 0 else {
      throw .output("“\(path)” is there already; --force overwrites it.")
    }
    temporary = "\(path).\(getpid()).part"
    descriptor = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o644)
    guard descriptor >= 0 else { throw .output("“\(path)” cannot be written: \(Self.reason(errno)).") }
  }

  deinit {
    guard descriptor >= 0 else { return }
    close(descriptor)
    if !isComplete { unlink(temporary) }
  }

  /// Gives it its name.
  func complete() throws(RemuxFailure) {
    guard fsync(descriptor) == 0 else { throw .output("“\(path)” cannot be written: \(Self.reason(errno)).") }
    // A link never replaces a file that somebody has made meanwhile.
    guard (overwrites ? rename(temporary, path) : link(temporary, path)) == 0 else {
      throw .output("“\(path)” cannot be written: \(Self.reason(errno)).")
    }
    if !overwrites { unlink(temporary) }
    isComplete = true
  }

  static func reason(_ number: Int32) -> String { String(cString: strerror(number)) }
}
