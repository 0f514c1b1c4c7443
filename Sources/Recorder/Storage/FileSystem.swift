import Glibc

/// The calls that a recorder makes to a file system, each as thin as the system call, so that tests can provide one
/// that fails, hangs or writes only a part.
///
/// Every call may block. Handles of the real file system are file descriptors.
package protocol FileSystem: Sendable {
  typealias Handle = CInt

  /// Opens a folder; creates it if missing, accessible only to its owner.
  func openFolder(_ path: String) throws(RoomRecorder.StorageError) -> Handle
  /// Creates a file that does not exist, accessible only to its owner, opens it for writing, and locks it to show that
  /// it is being written. Does not follow links.
  func create(_ name: String, in folder: Handle) throws(SystemError) -> Handle
  /// Adds a second name to a file; the name must be free.
  func link(_ name: String, as other: String, in folder: Handle) throws(SystemError)
  /// Renames a file, replacing any file of the new name.
  func rename(_ name: String, to other: String, in folder: Handle) throws(SystemError)
  func remove(_ name: String, in folder: Handle) throws(SystemError)
  /// Whether the name is in use, even if by a dangling link.
  func contains(_ name: String, in folder: Handle) -> Bool

  /// Writes at an offset.
  ///
  /// - Returns: the number of bytes written; at least one, but possibly not all.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64, of file: Handle) throws(SystemError) -> Int
  /// Reserves disk space for a part of a file, without changing the file's size. Does nothing if the file system does
  /// not support it; fails if there is no space.
  ///
  /// - Parameter part: a range after the existing data, since some file systems allocate existing parts again.
  func reserve(_ part: Range<Int64>, of file: Handle) throws(SystemError)
  /// Sets a file's size, and releases the space that was reserved after it.
  func truncate(_ file: Handle, to size: Int64) throws(SystemError)
  /// Waits until everything written is on the disk.
  func sync(_ handle: Handle) throws(SystemError)
  func close(_ handle: Handle) throws(SystemError)
}

/// A system call's error number, for example 28 for a full disk.
package struct SystemError: Error, Sendable, Hashable {
  package let code: Int32

  package init(code: Int32) {
    self.code = code
  }
}

extension RoomRecorder {
  /// The reason why a folder or a file could not be used.
  public struct StorageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The failed action, for example `write to`.
    public let action: String
    /// The folder or the file.
    public let path: String
    /// The system's error number, for example 28 for a full disk.
    public let code: Int32

    /// - Parameter code: the system's error number.
    package init(_ action: String, _ path: String, code: Int32) {
      self.action = action
      self.path = path
      self.code = code
    }

    /// The error of the system call that has just failed.
    init(_ action: String, _ path: String) {
      self.init(action, path, code: errno)
    }

    public var description: String {
      let reason = strerror(code).map { String(cString: $0) } ?? "unknown error"
      return "Cannot \(action) “\(path)”: \(reason) (error \(code))."
    }
  }
}

extension RoomRecorder.StorageError {
  /// Whether a file of that name exists already.
  package var isNameTaken: Bool { code == EEXIST }
}
