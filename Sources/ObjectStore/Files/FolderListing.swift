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
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = readdir(folder) else {
        if errno != 0 { throw .system("listed", path) }
        break
      }
      let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
        name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name == "." || name == ".." { continue }
      guard names.count < maximumEntries else {
        throw ObjectStoreError(.storage, "\(path.printable(utf8Bytes: 500)) has more than \(maximumEntries) files.")
      }
      names.append(name)
    }
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Returns the names, and which of them are folders.
  package static func entries(_ path: String) throws(ObjectStoreError) -> [Entry] {
    try names(path).map { name in
      var about = stat()
      let isFolder = lstat("\(path)/\(name)", &about) == 0 && about.st_mode & S_IFMT == S_IFDIR
      return Entry(name: name, isFolder: isFolder)
    }
  }

  /// Returns the bytes of a folder's file system that are free for this user.
  package static func freeBytes(_ path: String) throws(ObjectStoreError) -> Int64 {
    var status = statvfs()
    guard statvfs(path, &status) == 0 else { throw .system("examined", path) }
    let (bytes, overflow) = Int64(clamping: status.f_bavail).multipliedReportingOverflow(
      by: Int64(clamping: status.f_frsize))
    return overflow ? .max : bytes
  }

  /// Removes a folder and all that it has. Links are removed, not followed.
  package static func remove(_ path: String, depth: Int = 16) throws(ObjectStoreError) {
    guard depth > 0 else { throw ObjectStoreError(.storage, "\(path.printable(utf8Bytes: 500)) is too deep.") }
    for entry in try entries(path) {
      let child = "\(path)/\(entry.name)"
      if entry.isFolder {
        try remove(child, depth: depth - 1)
      } else if unlink(child) != 0, errno != ENOENT {
        throw .system("removed", child)
      }
    }
    if rmdir(path) != 0, errno != ENOENT { throw .system("removed", path) }
  }
}
