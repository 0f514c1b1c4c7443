internal import Glibc
internal import JobProtocol

/// The lock of an attempt's folder, which its process holds while it lives. A lock that is free means that the process is dead.
package enum AttemptLock {
  package enum State: Sendable, Hashable {
    /// A process holds it.
    case held
    /// No process holds it, or there is none.
    case free
  }

  /// Looks whether a process holds the lock. Blocks for the time of some system calls.
  package static func state(of folder: String) -> State {
    let file = open("\(folder)/\(JobFolder.lock)", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return .free }
    defer { close(file) }
    // A shared lock hinders no other observer.
    return flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK ? .held : .free
  }

  /// Returns the id of the process that holds the lock, or held it last; nil if the file does not say.
  package static func process(of folder: String) -> Int32? {
    let file = open("\(folder)/\(JobFolder.lock)", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = max(0, pread(file, &bytes, bytes.count, 0))
    let digits = bytes[..<count].prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard digits.count < count, bytes[digits.count] == UInt8(ascii: "\n") else { return nil }
    return Int32(String(decoding: digits, as: UTF8.self)).flatMap { $0 > 1 ? $0 : nil }
  }

  /// Takes the lock of an attempt whose process never took it, so that one that was started late ends at once instead of running
  /// beside the next attempt.
  ///
  /// - Returns: nil if a process holds the lock.
  package static func fence(_ folder: String) -> Fence? {
    let file = open("\(folder)/\(JobFolder.lock)", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { return Fence(file: -1) }
    guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
      close(file)
      return nil
    }
    return Fence(file: file)
  }

  /// A lock that is held until this is released.
  package final class Fence: Sendable {
    private let file: Int32

    fileprivate init(file: Int32) { self.file = file }

    deinit { if file >= 0 { close(file) } }
  }
}
