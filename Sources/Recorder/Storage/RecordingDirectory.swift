import Glibc
package import NIOCore

/// The folder of the recordings. It is held open, so files are created inside it even if its path changes.
package final class RecordingDirectory {
  let path: String
  private let disk: any FileSystem
  private let handle: FileSystem.Handle

  /// Opens the folder; creates it if missing, accessible only to its owner.
  package init(path: String, disk: any FileSystem = POSIXFileSystem()) throws(RoomRecorder.StorageError) {
    self.path = path
    self.disk = disk
    handle = try disk.openFolder(path)
  }

  deinit {
    try? disk.close(handle)
  }

  /// Creates a file that does not exist, accessible only to its owner. It becomes visible only with its first content.
  /// Does not follow links.
  ///
  /// - Parameter durably: whether it must be on the disk before this returns.
  package func create(
    _ name: String, containing content: ByteBuffer, durably: Bool = false
  ) throws(RoomRecorder.StorageError) -> OutputFile {
    let draft = try draft(of: name, containing: content)
    if durably {
      do throws(RoomRecorder.StorageError) {
        try draft.file.sync()
      } catch {
        try? disk.remove(draft.name, in: handle)
        throw error
      }
    }
    do {
      try publish(draft.name, as: name)
      if durably { try? disk.sync(handle) }
    } catch {
      try? disk.remove(draft.name, in: handle)
      throw RoomRecorder.StorageError("create", path(of: name), code: error.code)
    }
    return draft.file.named(name, path: path(of: name))
  }

  /// Whether the name is in use, even if by a dangling link.
  package func contains(_ name: String) -> Bool {
    disk.contains(name, in: handle)
  }

  /// Replaces the content of a file atomically: a reader sees the old or the new content, never a part.
  ///
  /// - Parameter durably: whether it must be on the disk before this returns.
  /// - Returns: the new file, which is locked as being written for as long as it is kept.
  @discardableResult
  package func replace(
    _ name: String, with content: ByteBuffer, durably: Bool
  ) throws(RoomRecorder.StorageError) -> OutputFile {
    let draft = try draft(of: name, containing: content)
    do throws(RoomRecorder.StorageError) {
      if durably { try draft.file.sync() }
      do throws(SystemError) {
        try disk.rename(draft.name, to: name, in: handle)
        if durably { try? disk.sync(handle) }
      } catch {
        throw RoomRecorder.StorageError("replace", path(of: name), code: error.code)
      }
    } catch {
      try? disk.remove(draft.name, in: handle)
      throw error
    }
    return draft.file.named(name, path: path(of: name))
  }

  private func path(of name: String) -> String { "\(path)/\(name)" }

  /// Creates a hidden file that will be renamed. Its name is unique, even among drafts of the same file.
  private func draft(
    of name: String, containing content: ByteBuffer
  ) throws(RoomRecorder.StorageError) -> (name: String, file: OutputFile) {
    let draft = SafeFileName.draft(of: name, token: .random(in: 0...UInt32.max))
    let file: OutputFile
    do {
      file = OutputFile(descriptor: try disk.create(draft, in: handle), name: name, path: path(of: name), disk: disk)
    } catch {
      throw RoomRecorder.StorageError("create", path(of: name), code: error.code)
    }
    do {
      try file.write(FileWrite(offset: 0, bytes: content))
    } catch {
      try? disk.remove(draft, in: handle)
      throw error
    }
    return (draft, file)
  }

  /// Renames a draft to its final name, unless that is in use.
  private func publish(_ draft: String, as name: String) throws(SystemError) {
    do {
      try disk.link(draft, as: name, in: handle)
      try? disk.remove(draft, in: handle)
    } catch  where Self.meansNoLinks(error.code) {
      // On a file system without hard links: claim the name first, then replace the placeholder with the draft.
      let placeholder = try disk.create(name, in: handle)
      try? disk.close(placeholder)
      try disk.rename(draft, to: name, in: handle)
    }
  }

  private static func meansNoLinks(_ code: Int32) -> Bool {
    [EPERM, ENOTSUP, ENOSYS, EINVAL, EMLINK].contains(code)
  }
}
