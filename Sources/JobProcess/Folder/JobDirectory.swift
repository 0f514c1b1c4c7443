internal import Glibc
internal import JobProtocol

/// The folder of a job, which one process at a time has.
final class JobDirectory: Sendable {
  /// As the process was given it.
  let path: String
  private let descriptor: Int32
  private let lock: Int32

  /// Opens the folder, and locks it until this object is gone.
  ///
  /// The lock is one of flock(2), so it ends with the process, and no child inherits it.
  init(_ path: String) throws(JobFailure) {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .folder("\(path) cannot be opened: \(Self.words(errno)).") }
    let lock = openat(descriptor, JobFolder.lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard lock >= 0 else {
      let error = errno
      close(descriptor)
      throw .folder("\(path)/\(JobFolder.lock) cannot be opened: \(Self.words(error)).")
    }
    guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
      let error = errno
      close(lock)
      close(descriptor)
      throw error == EWOULDBLOCK
        ? .usage("Another process runs the job of \(path).")
        : .folder("\(path)/\(JobFolder.lock) cannot be locked: \(Self.words(error)).")
    }
    // Only now: an object that has all its values closes them also where this initializer throws.
    (self.path, self.descriptor, self.lock) = (path, descriptor, lock)
    // For a service that did not start this process, and that it does not answer.
    let id = Array("\(getpid())\n".utf8)
    _ = ftruncate(lock, 0)
    _ = pwrite(lock, id, id.count, 0)
  }

  deinit {
    close(lock)
    close(descriptor)
  }

  func path(of name: String) -> String { path.hasSuffix("/") ? path + name : "\(path)/\(name)" }

  /// A path of the control socket that is short, however long the folder's is: those of sockets have 107 bytes at most.
  var controlPath: String {
    ControlPath.path(
      in: path, descriptor: descriptor, hasDescriptors: access("/proc/self/fd/\(descriptor)", F_OK) == 0)
  }

  /// Removes the control socket of an earlier process.
  func removeControl() { unlinkat(descriptor, JobFolder.control, 0) }

  /// Creates the folder of media if it is missing.
  func createMedia() throws(JobFailure) {
    guard mkdirat(descriptor, JobFolder.media, 0o700) == 0 || errno == EEXIST else {
      throw .folder("\(path(of: JobFolder.media)) cannot be created: \(Self.words(errno)).")
    }
  }

  /// Opens the journal for reading and appending.
  func openJournal() throws(JobFailure) -> Int32 {
    let file = openat(descriptor, JobFolder.journal, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { throw .folder("\(path(of: JobFolder.journal)) cannot be opened: \(Self.words(errno)).") }
    return file
  }

  /// Why a call of the system failed, for example `no such file or directory`.
  static func words(_ number: Int32) -> String {
    let text = strerror(number).map { String(cString: $0) } ?? "error \(number)"
    return text.prefix(1).lowercased() + text.dropFirst()
  }
}
