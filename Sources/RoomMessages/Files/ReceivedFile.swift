import DataMessages
import Glibc
package import NIOCore
import Synchronization

/// A file that is being received: `NAME.part` until it is complete.
package final class ReceivedFile: Sendable {
  /// The name without `.part`.
  let name: String
  /// The announced size in bytes.
  let size: Int64
  let wanted: FileName
  let part: String
  private let descriptor: Int32
  private let count = Mutex<Int64>(0)

  /// The number of bytes that were written.
  package var written: Int64 { count.withLock(\.self) }

  init(name: FileName, size: Int64, wanted: FileName, part: String, descriptor: Int32) {
    self.name = name.description
    self.size = size
    self.wanted = wanted
    self.part = part
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// Appends bytes.
  package func write(_ bytes: ByteBuffer) throws(FileTransferError) {
    var rest = bytes.readableBytesView[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw FileTransferError("written", part) }
      self.count.withLock { $0 += Int64(count) }
      rest = rest.dropFirst(count)
    }
  }
}
