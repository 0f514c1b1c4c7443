internal import COpenSSL
internal import NIOCore

/// OpenSSL's output: each write is one datagram, which is buffered until it is taken.
///
/// A memory BIO would join datagrams, so this is a BIO of our own.
final class DatagramBIO {
  private(set) var handle: OpaquePointer?
  private var datagrams: [ByteBuffer] = []

  init?() {
    guard let method = Self.method, let bio = BIO_new(method) else { return nil }
    BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
    BIO_set_init(bio, 1)
    handle = bio
  }

  /// Detaches the BIO from this object. The owning `SSL` frees the BIO; a later write must not reach a freed object.
  func detach() {
    if let handle { BIO_set_data(handle, nil) }
    handle = nil
  }

  func take() -> [ByteBuffer] {
    if datagrams.isEmpty { return [] }
    defer { datagrams.removeAll() }
    return datagrams
  }

  private func append(_ bytes: UnsafeRawBufferPointer) {
    datagrams.append(ByteBuffer(bytes: bytes))
  }

  /// Created once and never changed or freed, so every thread may read it.
  nonisolated(unsafe) private static let method: OpaquePointer? = {
    guard let method = BIO_meth_new(BIO_get_new_index() | Int32(BIO_TYPE_SOURCE_SINK), "datagram") else { return nil }
    BIO_meth_set_write(method) { bio, bytes, count in
      guard let bytes, count > 0, let data = BIO_get_data(bio) else { return -1 }
      Unmanaged<DatagramBIO>.fromOpaque(data).takeUnretainedValue()
        .append(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
      return count
    }
    BIO_meth_set_ctrl(method) { _, command, _, _ in
      command == BIO_CTRL_FLUSH ? 1 : 0
    }
    return method
  }()
}
