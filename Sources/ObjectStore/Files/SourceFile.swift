internal import Glibc
internal import Media

/// A file that is to be stored, open for reading. It is locked against those who repair it meanwhile (flock(2)).
///
/// It may have any content, and be anything: only a plain file is opened, and no link is followed.
package final class SourceFile: Sendable {
  package let path: String
  /// The size in bytes when it was opened.
  package let size: Int64
  private let descriptor: Int32

  /// - Parameter locks: false for a file that another process may write and that is read nevertheless.
  /// - Throws: an ``ObjectStoreError`` of the kind `missing`, `notAFile` or `storage`, or `busy` if another process writes it.
  package convenience init(path: String, locks: Bool = true) throws(ObjectStoreError) {
    try self.init(path: path, descriptor: Glibc.open(path, SourceFile.flags), locks: locks)
  }

  /// - Parameters:
  ///   - name: of a file in a folder.
  ///   - folder: the folder's descriptor.
  ///   - path: what errors call the file.
  package convenience init(name: String, in folder: Int32, path: String) throws(ObjectStoreError) {
    try self.init(path: path, descriptor: openat(folder, name, SourceFile.flags))
  }

  /// Non-blocking, so that opening a pipe does not wait for its other end.
  private static let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK

  private init(path: String, descriptor: Int32, locks: Bool = true) throws(ObjectStoreError) {
    guard descriptor >= 0 else { throw .system("opened", path) }
    var about = stat()
    guard fstat(descriptor, &about) == 0, about.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw ObjectStoreError(.notAFile, "\(path.printable(utf8Bytes: 500)) is not a plain file.")
    }
    if locks, flock(descriptor, LOCK_SH | LOCK_NB) != 0, errno == EWOULDBLOCK {
      close(descriptor)
      throw ObjectStoreError(.busy, "\(path.printable(utf8Bytes: 500)) is being written.")
    }
    self.path = path
    self.descriptor = descriptor
    size = Int64(about.st_size)
  }

  deinit {
    // A child process that is being started right now also has the file open, and would keep the lock.
    _ = flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  /// Reads the file from its beginning to its end; for a thread that may wait.
  ///
  /// - Parameter receive: called with at most 1 MiB.
  /// - Returns: the size and the digest of what was read.
  package func read(_ receive: (UnsafeRawBufferPointer) throws -> Void) throws -> StoredObject {
    let digest = ObjectDigest()
    let count = 1 << 20
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
    defer { buffer.deallocate() }
    var offset: Int64 = 0
    while true {
      let got = pread(descriptor, buffer.baseAddress, count, off_t(offset))
      if got < 0 {
        if errno == EINTR { continue }
        throw ObjectStoreError.system("read", path)
      }
      if got == 0 { break }
      let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<got])
      digest.update(bytes)
      try receive(bytes)
      offset += Int64(got)
    }
    guard let sha256 = digest.end() else { throw ObjectStoreError(.storage, "OpenSSL has no SHA-256.") }
    return StoredObject(bytes: offset, sha256: sha256)
  }

  /// Reads from a position; for a thread that may wait.
  ///
  /// - Returns: the number of bytes, which is lower than the size of the buffer only at the end of the file.
  package func read(from offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(ObjectStoreError) -> Int {
    var done = 0
    while done < buffer.count {
      let got = pread(
        descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done, off_t(offset) + off_t(done))
      if got < 0, errno == EINTR { continue }
      if got < 0 { throw .system("read", path) }
      if got == 0 { break }
      done += got
    }
    return done
  }

  /// Reads the whole file; for a thread that may wait.
  ///
  /// - Returns: nil if it has more than `limit` bytes.
  package func readAll(limit: Int) throws -> [UInt8]? {
    guard size <= Int64(limit) else { return nil }
    var all: [UInt8] = []
    var isTooLong = false
    _ = try read { bytes in
      if all.count + bytes.count > limit { isTooLong = true } else { all += bytes }
    }
    return isTooLong ? nil : all
  }
}
