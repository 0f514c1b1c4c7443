internal import CDatagrams
internal import Glibc
internal import ICE
internal import NIOCore

/// Datagrams that are sent with one system call (`sendmmsg`, sendmmsg(2)): bytes, addresses, and whether each is
/// essential.
///
/// Not Sendable: it belongs to one socket on one event loop.
final class SendBatch {
  /// The maximum number of datagrams in one system call.
  static let capacity = 64
  /// The maximum datagram size; the peer sends at most 1,500 bytes.
  static let maximumDatagramBytes = ReceiveBatch.maximumDatagramBytes

  /// The result of sending.
  enum Outcome: Equatable {
    /// All datagrams are sent.
    case done
    /// The kernel's buffer is full (`EAGAIN`, `ENOBUFS`).
    case full
  }

  private let bytes = UnsafeMutableRawPointer.allocate(byteCount: capacity * maximumDatagramBytes, alignment: 16)
  private let names = UnsafeMutablePointer<SocketAddressStorage>.allocate(capacity: capacity)
  private let parts = UnsafeMutablePointer<iovec>.allocate(capacity: capacity)
  private let messages = UnsafeMutablePointer<cdatagrams_message>.allocate(capacity: capacity)
  private var isEssential: [Bool] = []
  /// The number of datagrams that were sent or failed permanently.
  private var sent = 0

  init() {
    isEssential.reserveCapacity(Self.capacity)
    names.initialize(repeating: SocketAddressStorage(), count: Self.capacity)
    messages.initialize(repeating: cdatagrams_message(), count: Self.capacity)
    for position in 0..<Self.capacity {
      (parts + position).initialize(to: iovec(iov_base: bytes + position * Self.maximumDatagramBytes, iov_len: 0))
      messages[position].header.msg_iov = parts + position
      messages[position].header.msg_iovlen = 1
      messages[position].header.msg_name = UnsafeMutableRawPointer(names + position)
    }
  }

  deinit {
    bytes.deallocate()
    names.deallocate()
    parts.deallocate()
    messages.deallocate()
  }

  /// The number of datagrams that wait for ``send(from:)``.
  var count: Int { isEssential.count - sent }

  var isFull: Bool { isEssential.count == Self.capacity }

  /// Adds a datagram of at most ``maximumDatagramBytes`` bytes; the batch must not be full.
  ///
  /// - Parameter isEssential: see ``DatagramSocket/write(_:to:isEssential:)``.
  func add(_ datagram: ByteBuffer, to remote: TransportAddress, isEssential: Bool) {
    let position = self.isEssential.count
    guard position < Self.capacity, datagram.readableBytes <= Self.maximumDatagramBytes else { return }
    datagram.withUnsafeReadableBytes { from in
      if let base = from.baseAddress {
        (bytes + position * Self.maximumDatagramBytes).copyMemory(from: base, byteCount: from.count)
      }
    }
    parts[position].iov_len = datagram.readableBytes
    names[position] = SocketAddressStorage(remote)
    messages[position].header.msg_namelen = names[position].length
    self.isEssential.append(isEssential)
  }

  /// Sends the waiting datagrams, in order. A datagram that can never be sent, for example because there is no route,
  /// is dropped.
  func send(from descriptor: Int32) -> Outcome {
    while count > 0 {
      let status = cdatagrams_send(descriptor, messages + sent, UInt32(count))
      if status > 0 {
        sent += Int(status)
      } else if errno == EAGAIN || errno == ENOBUFS {
        return .full
      } else if errno != EINTR {
        // The error is that of the first datagram. Those before it were sent, those after it are tried again.
        sent += 1
      }
    }
    removeAll()
    return .done
  }

  /// Removes the waiting datagrams and passes each to `take`.
  func takeAll(_ take: (ByteBuffer, SocketAddressStorage, _ isEssential: Bool) -> Void) {
    for position in sent..<isEssential.count {
      let start = bytes + position * Self.maximumDatagramBytes
      take(
        ByteBuffer(bytes: UnsafeRawBufferPointer(start: start, count: parts[position].iov_len)), names[position],
        isEssential[position])
    }
    removeAll()
  }

  private func removeAll() {
    isEssential.removeAll(keepingCapacity: true)
    sent = 0
  }
}
