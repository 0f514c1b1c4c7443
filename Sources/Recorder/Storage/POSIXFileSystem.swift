import CFiles
import Glibc

/// The file system of this machine.
package struct POSIXFileSystem: FileSystem {
  package init() {}

  package func openFolder(_ path: String) throws(RoomRecorder.StorageError) -> Handle {
    try make(path)
    let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if folder < 0 { throw RoomRecorder.StorageError("open the folder", path) }
    if faccessat(folder, ".", W_OK | X_OK, AT_EACCESS) != 0 {
      let error = RoomRecorder.StorageError("write into the folder", path)
      _ = Glibc.close(folder)
      throw error
    }
    return folder
  }

  package func create(_ name: String, in folder: Handle) throws(SystemError) -> Handle {
    let file = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    if file < 0 { throw .last }
    // The lock tells a repair to leave this file alone. If the file system has no locks, nothing is lost.
    _ = flock(file, LOCK_EX | LOCK_NB)
    return file
  }

  package func link(_ name: String, as other: String, in folder: Handle) throws(SystemError) {
    if linkat(folder, name, folder, other, 0) != 0 { throw .last }
  }

  package func rename(_ name: String, to other: String, in folder: Handle) throws(SystemError) {
    if renameat(folder, name, folder, other) != 0 { throw .last }
  }

  package func remove(_ name: String, in folder: Handle) throws(SystemError) {
    if unlinkat(folder, name, 0) != 0 { throw .last }
  }

  package func contains(_ name: String, in folder: Handle) -> Bool {
    var about = stat()
    return fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) == 0
  }

  package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64, of file: Handle) throws(SystemError) -> Int {
    while true {
      let written = pwrite(file, bytes.baseAddress, bytes.count, off_t(offset))
      if written > 0 { return written }
      if written == 0 { throw SystemError(code: EIO) }
      if errno != EINTR { throw .last }
    }
  }

  package func reserve(_ part: Range<Int64>, of file: Handle) throws(SystemError) {
    while cfiles_reserve(file, part.lowerBound, part.upperBound - part.lowerBound) != 0 {
      switch errno {
      case EINTR: continue
      case ENOSPC, EDQUOT, EFBIG, EIO: throw .last
      // This file system cannot or may not reserve space; writing works without it.
      default: return
      }
    }
  }

  package func truncate(_ file: Handle, to size: Int64) throws(SystemError) {
    if ftruncate(file, off_t(size)) != 0 { throw .last }
  }

  package func sync(_ handle: Handle) throws(SystemError) {
    // Some file systems, and pipes, do not support syncing, which is acceptable.
    if fsync(handle) != 0, errno != EINVAL, errno != ENOTSUP { throw .last }
  }

  package func close(_ handle: Handle) throws(SystemError) {
    // A child process that is being started right now also has the file open, and would keep the lock.
    _ = flock(handle, LOCK_UN)
    if Glibc.close(handle) != 0 { throw .last }
  }

  private func make(_ path: String) throws(RoomRecorder.StorageError) {
    if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
    let parent = path.split(separator: "/").dropLast().joined(separator: "/")
    if errno == ENOENT, !parent.isEmpty {
      try make((path.hasPrefix("/") ? "/" : "") + parent)
      if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
    }
    throw RoomRecorder.StorageError("create the folder", path)
  }
}

extension SystemError {
  /// The error of the system call that has just failed.
  fileprivate static var last: SystemError { SystemError(code: errno) }
}
