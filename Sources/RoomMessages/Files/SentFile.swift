import Glibc
import Media
import NIOCore

/// A file that is offered to a user. It is open while it is sent.
final class SentFile: Sendable {
  let name: String
  let size: Int64
  private let path: String
  private let descriptor: Int32

  init(_ path: String) throws(FileTransferError) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    var status = stat()
    guard descriptor >= 0, fstat(descriptor, &status) == 0 else {
      let error = FileTransferError("read", path, .unreadable)
      if descriptor >= 0 { close(descriptor) }
      throw error
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw FileTransferError("\(path.printable()) is not a file, so it cannot be sent.", .unreadable)
    }
    self.path = path
    self.descriptor = descriptor
    name = path.split(separator: "/").last.map(String.init) ?? path
    size = Int64(status.st_size)
  }

  deinit { close(descriptor) }

  /// Returns at most this many bytes from an offset; none at the end.
  func read(at offset: Int64, upTo count: Int) throws(FileTransferError) -> ByteBuffer {
    var buffer = ByteBuffer()
    let result = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { bytes in
      max(0, pread(descriptor, bytes.baseAddress, min(count, bytes.count), off_t(offset)))
    }
    if result == 0, offset < size, errno != 0 { throw FileTransferError("read", path, .unreadable) }
    return buffer
  }
}
