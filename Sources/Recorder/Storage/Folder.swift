import Glibc
import NIOCore

/// The folder that recordings go to, held open: files are made inside it whatever happens to its path meanwhile.
final class Folder {
  let path: String
  private let descriptor: CInt

  /// Opens the folder; where there is none, it is made, readable by its owner alone.
  init(path: String) throws(Recorder.DiskError) {
    self.path = path
    try Self.make(path)
    let opened = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    descriptor = opened
    if opened < 0 { throw Recorder.DiskError("open the folder", path) }
    if faccessat(opened, ".", W_OK | X_OK, AT_EACCESS) != 0 { throw Recorder.DiskError("write into the folder", path) }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// Makes a file that was not there, readable by its owner alone. Links are not followed.
  func create(_ name: String) throws(Recorder.DiskError) -> OutputFile {
    let file = openat(descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    if file < 0 { throw Recorder.DiskError("create", "\(path)/\(name)") }
    return OutputFile(descriptor: file, name: name, path: "\(path)/\(name)")
  }

  /// Whether the name is taken, be it by a link to nowhere.
  func contains(_ name: String) -> Bool {
    var about = stat()
    return fstatat(descriptor, name, &about, AT_SYMLINK_NOFOLLOW) == 0
  }

  /// Puts other content into a file of ours so that a reader sees the old one or the new one, never a part.
  ///
  /// - Parameter durably: whether it must be on the disk before this returns.
  func replace(_ name: String, with content: ByteBuffer, durably: Bool) throws(Recorder.DiskError) {
    let draft = ".\(name).part"
    unlinkat(descriptor, draft, 0)
    do throws(Recorder.DiskError) {
      let file = try create(draft)
      try file.write(FileWrite(offset: 0, bytes: content))
      try file.close(durably: durably)
      if renameat(descriptor, draft, descriptor, name) != 0 {
        throw Recorder.DiskError("replace", "\(path)/\(name)")
      }
      if durably { fsync(descriptor) }
    } catch {
      unlinkat(descriptor, draft, 0)
      throw error
    }
  }

  func remove(_ name: String) {
    unlinkat(descriptor, name, 0)
  }

  private static func make(_ path: String) throws(Recorder.DiskError) {
    if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
    let parent = path.split(separator: "/").dropLast().joined(separator: "/")
    if errno == ENOENT, !parent.isEmpty {
      try make((path.hasPrefix("/") ? "/" : "") + parent)
      if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
    }
    throw Recorder.DiskError("create the folder", path)
  }
}
