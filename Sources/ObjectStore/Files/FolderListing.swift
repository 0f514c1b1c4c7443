internal import Glibc
internal import Media

/// What a folder has.
package enum FolderListing {
  package struct Entry: Sendable, Hashable {
    /// Bytes that are not UTF-8 are replaced; then the file cannot be opened by it.
    package var name: String
    /// Links count as files.
    package var isFolder: Bool
  }

  /// The number of entries that are listed.
  package static let maximumEntries = 100_000

  /// Returns the names in a folder, except `.` and `..`, in order; none if there is no such folder.
  ///
  /// - Throws: an ``ObjectStoreError``, also if there are too many.
  package static func names(_ path: String) throws(ObjectStoreError) -> [String] {
    guard let folder = opendir(path) else {
      if errno == ENOENT { return [] }
      throw .system("listed", path)
    }
    defer { closedir(folder) }
    return try rawNames(folder, path).map { String(decoding: $0, as: UTF8.self) }
      .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Returns the names as bytes, without an end, in any order.
  private static func rawNames(_ folder: OpaquePointer, _ path: String) throws(ObjectStoreError) -> [[UInt8]] {
    var names: [[UInt8]] = []
    while true {
      errno = 0
      guard let entry = readdir(folder) else {
        if errno != 0 { throw .system("listed", path) }
        return names
      }
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
      if name == Array(".".utf8) || name == Array("..".utf8) { continue }
      guard names.count < maximumEntries else {
        throw ObjectStoreError(.storage, "\(path.printable(utf8Bytes: 500)) has more than \(maximumEntries) files.")
      }
      names.append(name)
    }
  }

  /// Returns the names, and which of them are folders.
  package static func entries(_ path: String) throws(ObjectStoreError) -> [Entry] {
    try names(path).map { Entry(name: $0, isFolder: isFolder("\(path)/\($0)")) }
  }

  /// Whether there is a folder with the path, and no link to one.
  package static func isFolder(_ path: String) -> Bool {
    var about = stat()
    return lstat(path, &about) == 0 && about.st_mode & S_IFMT == S_IFDIR
  }

  /// Returns the bytes of a folder's file system that are free for this user.
  package static func freeBytes(_ path: String) throws(ObjectStoreError) -> Int64 {
    var status = statvfs()
    guard statvfs(path, &status) == 0 else { throw .system("examined", path) }
    let (bytes, overflow) = Int64(clamping: status.f_bavail).multipliedReportingOverflow(
      by: Int64(clamping: status.f_frsize))
    return overflow ? .max : bytes
  }

  /// Removes a folder and all that it has, if there is one. Links are removed, not followed.
  package static func remove(_ path: String) throws(ObjectStoreError) {
    try empty(open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), path, depth: 16)
    if rmdir(path) != 0, errno != ENOENT { throw .system("removed", path) }
  }

  /// - Parameter descriptor: of the folder, or -1 after an error; it is closed.
  private static func empty(_ descriptor: Int32, _ path: String, depth: Int) throws(ObjectStoreError) {
    guard descriptor >= 0, let folder = fdopendir(descriptor) else {
      if errno == ENOENT { return }
      throw .system("emptied", path)
    }
    defer { closedir(folder) }
    for var name in try rawNames(folder, path) {
      name.append(0)
      let failure: ObjectStoreError? = name.withUnsafeBytes { bytes in
        guard let name = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else { return nil }
        if unlinkat(descriptor, name, 0) == 0 || errno == ENOENT { return nil }
        guard errno == EISDIR || errno == EPERM, depth > 0 else { return .system("emptied", path) }
        do throws(ObjectStoreError) {
          try empty(openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), path, depth: depth - 1)
        } catch {
          return error
        }
        return unlinkat(descriptor, name, AT_REMOVEDIR) == 0 || errno == ENOENT ? nil : .system("emptied", path)
      }
      if let failure { throw failure }
    }
  }
}
