/// The calls that a recorder makes into a file system, each as thin as the system's own, so that tests can have one that
/// fails, hangs or writes half of what it was given.
///
/// Every call may block. Handles are file descriptors where the file system is the real one.
protocol FileSystem: Sendable {
  typealias Handle = CInt

  /// Opens a folder; where there is none, it is made, readable by its owner alone.
  func openFolder(_ path: String) throws(RoomRecorder.StorageError) -> Handle
  /// Makes a file that was not there, readable by its owner alone, opens it for writing, and marks it as being written.
  /// Links are not followed.
  func create(_ name: String, in folder: Handle) throws(SystemError) -> Handle
  /// Gives a file a second name that was not taken.
  func link(_ name: String, as other: String, in folder: Handle) throws(SystemError)
  /// Gives a file another name, in place of whatever had it.
  func rename(_ name: String, to other: String, in folder: Handle) throws(SystemError)
  func remove(_ name: String, in folder: Handle) throws(SystemError)
  /// Whether the name is taken, be it by a link to nowhere.
  func contains(_ name: String, in folder: Handle) -> Bool

  /// Writes at a place.
  ///
  /// - Returns: how many bytes were written; at least one, but maybe not all.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64, of file: Handle) throws(SystemError) -> Int
  /// Keeps room on the disk for a part of a file, which stays as long as it is. Nothing happens where the file system cannot do
  /// that; it fails where there is no room.
  ///
  /// - Parameter part: nothing that is there already: some file systems request all of it again.
  func reserve(_ part: Range<Int64>, of file: Handle) throws(SystemError)
  /// Makes a file that long, and gives up the room that was reserved beyond.
  func truncate(_ file: Handle, to size: Int64) throws(SystemError)
  /// Waits until all that was written lies on the disk.
  func sync(_ handle: Handle) throws(SystemError)
  func close(_ handle: Handle) throws(SystemError)
}

/// A system call's error number, for example 28 for a full disk.
struct SystemError: Error, Sendable, Hashable {
  let code: Int32
}
