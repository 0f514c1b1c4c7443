import Glibc

extension RoomRecorder {
  /// Why a folder or a file could not be used.
  public struct StorageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What was wanted, for example `write to`.
    public let action: String
    /// The folder or the file.
    public let path: String
    /// The system's error number, for example 28 for a full disk.
    public let code: Int32

    init(_ action: String, _ path: String, code: Int32 = errno) {
      self.action = action
      self.path = path
      self.code = code
    }

    public var description: String {
      let reason = strerror(code).map { String(cString: $0) } ?? "unknown error"
      return "Cannot \(action) “\(path)”: \(reason) (error \(code))."
    }
  }
}

extension RoomRecorder.StorageError {
  /// Whether a file of that name is already there.
  var isNameTaken: Bool { code == EEXIST }
}
