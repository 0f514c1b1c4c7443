import Glibc
import NIOCore

/// The folder that recordings go to, held open: files are made inside it whatever happens to its path meanwhile.
final class RecordingDirectory {
  let path: String
  private let disk: any FileSystem
  private let handle: FileSystem.Handle

  /// Opens the folder; where there is none, it is made, readable by its owner alone.
  init(path: String, disk: any FileSystem = POSIXFileSystem()) throws(RoomRecorder.StorageError) {
    self.path = path
    self.disk = disk
    handle = try disk.openFolder(path)
  }

  deinit {
    try? disk.close(handle)
  }

  /// Makes a file that was not there, readable by its owner alone, and that nobody sees before it holds its first content.
  /// Links are not followed.
  func create(_ name: String, containing content: ByteBuffer) throws(RoomRecorder.StorageError) -> OutputFile {
    let draft = try draft(of: name, containing: content)
    do {
      try publish(draft.name, as: name)
    } catch {
      try? disk.remove(draft.name, in: handle)
      throw RoomRecorder.StorageError("create", path(of: name), code: error.code)
    }
    return draft.file.named(name, path: path(of: name))
  }

  /// Whether the name is taken, be it by a link to nowhere.
  func contains(_ name: String) -> Bool {
    disk.contains(name, in: handle)
  }

  /// Puts other content into a file of ours so that a reader sees the old one or the new one, never a part.
  ///
  /// - Parameter durably: whether it must be on the disk before this returns.
  /// - Returns: the new file, which is marked as being written for as long as it is kept.
  @discardableResult
  func replace(_ name: String, with content: ByteBuffer, durably: Bool) throws(RoomRecorder.StorageError) -> OutputFile
  {
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

  /// A hidden file that is to become another one. Nobody else's draft has its name, even of a file with the same one.
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

  /// Gives a draft its name, unless that is taken.
  private func publish(_ draft: String, as name: String) throws(SystemError) {
    do {
      try disk.link(draft, as: name, in: handle)
      try? disk.remove(draft, in: handle)
    } catch  where Self.meansNoLinks(error.code) {
      // A file system without hard links: take the name first, and then put the draft in its place.
      let placeholder = try disk.create(name, in: handle)
      try? disk.close(placeholder)
      try disk.rename(draft, to: name, in: handle)
    }
  }

  private static func meansNoLinks(_ code: Int32) -> Bool {
    [EPERM, ENOTSUP, ENOSYS, EINVAL, EMLINK].contains(code)
  }
}
