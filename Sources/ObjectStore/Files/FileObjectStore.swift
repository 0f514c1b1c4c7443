internal import Glibc
internal import Media

/// Objects as files of a folder. The key is the path below it.
///
/// An object is written under a temporary name, synchronised with the disk, and linked to its own name, which fails where the name
/// is taken (link(2)). Then the folders are synchronised, from its own up to the top one.
package final class FileObjectStore: ObjectStore {
  /// The folder, without a slash at its end.
  package let path: String
  private let limits: Limits
  private let reached: @Sendable (Step) throws -> Void

  /// What has been done for an object that is stored.
  package enum Step: String, Sendable, Hashable, CaseIterable {
    case drafted, written, synchronized, linked, folderSynchronized
  }

  /// How long a file system is waited for.
  package struct Limits: Sendable {
    /// A call that does not read or write the content of an object.
    package var call = Duration.seconds(30)
    /// The slowest rate at which an object is written and read back, in bytes a second, beyond the time of a call.
    package var bytesPerSecond: Int64 = 1 << 20

    package init() {}
  }

  /// The folder of objects that are being written. No key begins with a dot.
  private static let incoming = ".incoming"
  /// The threads that copy give way to those of calls.
  private static let niceness: Int32 = 10

  private init(path: String, limits: Limits, reached: @escaping @Sendable (Step) throws -> Void) {
    self.path = path
    self.limits = limits
    self.reached = reached
  }

  /// Opens a store, and creates its folder with mode 0700 if it is missing. What others have begun to write and not finished
  /// is removed.
  ///
  /// - Parameter reached: called after each step; what it throws ends the storing of the object.
  /// - Throws: an ``ObjectStoreError``.
  package static func open(
    _ path: String, limits: Limits = Limits(), reached: @escaping @Sendable (Step) throws -> Void = { _ in }
  ) async throws -> FileObjectStore {
    var trimmed = path
    while trimmed.utf8.count > 1, trimmed.hasSuffix("/") { trimmed.removeLast() }
    let store = FileObjectStore(path: trimmed, limits: limits, reached: reached)
    try await store.perform { [store] in
      try store.makeFolder(store.path)
      try store.makeFolder(store.incomingFolder)
      store.removeAbandoned()
    }
    return store
  }

  /// Returns the folder that a URL such as `file:///srv/recordings` names; nil if it is another URL.
  package static func path(ofURL url: String) -> String? {
    guard url.utf8.starts(with: "file://".utf8) else { return nil }
    let path = String(url.dropFirst("file://".count))
    guard path.hasPrefix("/"), !path.utf8.contains(0), !path.utf8.contains(UInt8(ascii: "%")) else { return nil }
    return path
  }

  private var incomingFolder: String { "\(path)/\(Self.incoming)" }

  func file(_ key: ObjectKey) -> String { "\(path)/\(key.text)" }

  private func perform<Result: Sendable>(
    bytes: Int64 = 0, _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    let seconds = bytes / max(1, limits.bytesPerSecond)
    return try await BlockingWork.run(
      "object store", niceness: bytes > 0 ? Self.niceness : nil, within: limits.call + .seconds(seconds), body)
  }

  // MARK: Writing

  package func put(_ file: SourceFile, at key: ObjectKey) async throws -> StoredObject {
    try await perform(bytes: 2 * file.size) { [self] in
      try put(at: key, same: { try file.read { _ in } }, content: { write in try file.read(write) })
    }
  }

  package func put(_ bytes: [UInt8], at key: ObjectKey) async throws -> StoredObject {
    try await perform { [self] in
      let object = StoredObject(bytes: Int64(bytes.count), sha256: ObjectDigest.hex(of: bytes))
      return try put(at: key, same: { object }) { write in
        try bytes.withUnsafeBytes(write)
        return object
      }
    }
  }

  /// - Parameters:
  ///   - same: returns what the object is to be, without writing it.
  ///   - content: hands over the bytes.
  private func put(
    at key: ObjectKey, same: () throws -> StoredObject,
    content: ((UnsafeRawBufferPointer) throws -> Void) throws -> StoredObject
  ) throws -> StoredObject {
    let target = file(key)
    try makeFolders(of: key)
    // It is there when storing begins again. No copy is needed to see that.
    if access(target, F_OK) == 0 { return try confirm(key, is: try same()) }
    let draft = try Draft(in: incomingFolder)
    try reached(.drafted)
    let object = try content { try draft.write($0) }
    try reached(.written)
    try draft.finish()
    try reached(.synchronized)
    guard Glibc.link(draft.path, target) == 0 else {
      if errno == EEXIST { return try confirm(key, is: object) }
      throw ObjectStoreError.system("linked", target)
    }
    try reached(.linked)
    try synchronizeFolders(of: key)
    try reached(.folderSynchronized)
    return object
  }

  /// Synchronises an object that exists with the disk, and compares it with what it is to be.
  private func confirm(_ key: ObjectKey, is object: StoredObject) throws -> StoredObject {
    let file = try SourceFile(path: file(key))
    guard file.size == object.bytes, try file.read({ _ in }) == object else {
      throw ObjectStoreError(.exists, "The object \(key) exists and has another content.")
    }
    try synchronize(self.file(key), flags: O_RDONLY)
    try synchronizeFolders(of: key)
    return object
  }

  /// The folders from the top one to that of an object.
  private func folders(of key: ObjectKey) -> [String] {
    var folders = [path]
    for part in key.text.split(separator: "/").dropLast() { folders.append("\(folders.last ?? path)/\(part)") }
    return folders
  }

  private func makeFolders(of key: ObjectKey) throws {
    for folder in folders(of: key).dropFirst() where mkdir(folder, 0o700) != 0 && errno != EEXIST {
      throw ObjectStoreError.system("created", folder)
    }
  }

  private func synchronizeFolders(of key: ObjectKey) throws {
    for folder in folders(of: key).reversed() { try synchronize(folder, flags: O_RDONLY | O_DIRECTORY) }
  }

  private func synchronize(_ path: String, flags: Int32) throws {
    let opened = Glibc.open(path, flags | O_CLOEXEC | O_NOFOLLOW)
    guard opened >= 0 else { throw ObjectStoreError.system("opened", path) }
    defer { close(opened) }
    // Some file systems do not support it.
    if fsync(opened) != 0, errno != EINVAL, errno != ENOTSUP { throw ObjectStoreError.system("synchronised", path) }
  }

  private func makeFolder(_ path: String) throws {
    if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
    let parent = path.split(separator: "/").dropLast().joined(separator: "/")
    if errno == ENOENT, !parent.isEmpty {
      try makeFolder((path.hasPrefix("/") ? "/" : "") + parent)
      if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
    }
    throw ObjectStoreError.system("created", path)
  }

  /// Removes drafts that no process has locked.
  private func removeAbandoned() {
    for name in (try? FolderListing.names(incomingFolder)) ?? [] {
      let draft = "\(incomingFolder)/\(name)"
      let opened = Glibc.open(draft, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
      guard opened >= 0 else { continue }
      if flock(opened, LOCK_EX | LOCK_NB) == 0 { unlink(draft) }
      close(opened)
    }
  }

  // MARK: Reading

  package func open(_ key: ObjectKey) async throws -> any ObjectReader {
    let path = file(key)
    let limit = limits.call
    return try await perform { try FileObjectReader(path: path, limit: limit) }
  }

  package func keys(below prefix: ObjectKey) async throws -> [ObjectKey] {
    try await perform { [self] in
      var keys: [ObjectKey] = []
      var folders = [prefix]
      while let folder = folders.popLast() {
        for entry in try FolderListing.entries(file(folder)) {
          guard let key = folder.appending(entry.name) else { continue }
          if entry.isFolder { folders.append(key) } else { keys.append(key) }
        }
      }
      return keys.sorted()
    }
  }

  package var freeBytes: Int64? {
    get async throws { try await perform { [self] in try FolderListing.freeBytes(path) } }
  }

  // MARK: Deleting

  package func delete(_ key: ObjectKey) async throws {
    try await perform { [self] in
      if unlink(file(key)) != 0, errno != ENOENT { throw ObjectStoreError.system("deleted", file(key)) }
      let folders = folders(of: key)
      // The folder itself may be gone when the call is repeated.
      if let folder = folders.last(where: { access($0, F_OK) == 0 }) {
        try synchronize(folder, flags: O_RDONLY | O_DIRECTORY)
      }
      // Another object may be put into a folder at this moment; then it is not empty, or is created again.
      for folder in folders.dropFirst().reversed() where rmdir(folder) != 0 { break }
    }
  }
}
