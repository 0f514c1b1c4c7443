internal import Glibc

/// An open file of ``FileObjectStore``.
final class FileObjectReader: ObjectReader {
  let size: Int64
  private let path: String
  private let descriptor: Int32
  private let limit: Duration

  init(path: String, limit: Duration) throws(ObjectStoreError) {
    self.path = path
    self.limit = limit
    descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else {
      size = 0
      throw .system("opened", path)
    }
    var about = stat()
    let isFile = fstat(descriptor, &about) == 0 && about.st_mode & S_IFMT == S_IFREG
    size = Int64(about.st_size)
    if !isFile { throw ObjectStoreError(.missing, "There is no object \(path).") }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  func read(from offset: Int64, count: Int) async throws -> [UInt8] {
    guard offset >= 0, count > 0 else { return [] }
    return try await BlockingWork.run("object reader", within: limit) { [self] in
      var failure: ObjectStoreError?
      let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
        done = 0
        while done < count {
          let got = pread(descriptor, buffer.baseAddress.map { $0 + done }, count - done, off_t(offset) + off_t(done))
          if got < 0, errno == EINTR { continue }
          if got < 0 { failure = .system("read", path) }
          if got <= 0 { break }
          done += got
        }
      }
      if let failure { throw failure }
      return bytes
    }
  }
}
