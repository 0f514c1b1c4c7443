internal import CDatagrams
internal import Glibc
internal import ICE

/// The buffers of one receiving system call: bytes, senders, and arrival times (`SO_TIMESTAMPNS`, socket(7)).
final class ReceiveBatch {
  /// The number of datagrams that are read at once.
  static let capacity = 64
  /// The maximum datagram size; longer datagrams are dropped.
  static let maximumDatagramBytes = 2048
  /// `SO_TIMESTAMPNS` and `SCM_TIMESTAMPNS` of 64-bit Linux, which Swift does not import.
  static let timestampOption: Int32 = 35
  /// One control message: its header and a `timespec`.
  private static let controlSize = MemoryLayout<cmsghdr>.size + MemoryLayout<timespec>.size

  private let bytes = UnsafeMutableRawPointer.allocate(byteCount: capacity * maximumDatagramBytes, alignment: 16)
  private let controls = UnsafeMutableRawPointer.allocate(byteCount: capacity * controlSize, alignment: 16)
  private let names = UnsafeMutablePointer<SocketAddressStorage>.allocate(capacity: capacity)
  private let parts = UnsafeMutablePointer<iovec>.allocate(capacity: capacity)
  private let messages = UnsafeMutablePointer<cdatagrams_message>.allocate(capacity: capacity)
  /// The number of datagrams in the last batch.
  private(set) var count = 0

  init() {
    names.initialize(repeating: SocketAddressStorage(), count: Self.capacity)
    messages.initialize(repeating: cdatagrams_message(), count: Self.capacity)
    for position in 0..<Self.capacity {
      let start = bytes + position * Self.maximumDatagramBytes
      (parts + position).initialize(to: iovec(iov_base: start, iov_len: Self.maximumDatagramBytes))
      messages[position].header.msg_iov = parts + position
      messages[position].header.msg_iovlen = 1
      messages[position].header.msg_name = UnsafeMutableRawPointer(names + position)
      messages[position].header.msg_control = controls + position * Self.controlSize
      offer(position)
    }
  }

  deinit {
    bytes.deallocate()
    controls.deallocate()
    names.deallocate()
    parts.deallocate()
    messages.deallocate()
  }

  /// Reads the queued datagrams and replaces the previous batch.
  func fetch(from descriptor: Int32) {
    for position in 0..<count { offer(position) }
    count = max(0, Int(take(from: descriptor)))
  }

  private func take(from descriptor: Int32) -> Int32 {
    while true {
      let count = cdatagrams_receive(descriptor, messages, UInt32(Self.capacity))
      if count >= 0 { return count }
      // An ICMP error for a sent datagram is reported once and does not affect received ones.
      if ![EINTR, ECONNREFUSED, EHOSTUNREACH, ENETUNREACH].contains(errno) { return count }
    }
  }

  /// Resets the buffer sizes, which the kernel overwrote with the used sizes.
  private func offer(_ position: Int) {
    messages[position].header.msg_namelen = socklen_t(MemoryLayout<SocketAddressStorage>.size)
    messages[position].header.msg_controllen = Self.controlSize
  }

  // MARK: Received datagrams

  /// Returns the bytes of a datagram, which are valid until the next batch; nil if it was longer than the maximum.
  func datagram(at position: Int) -> UnsafeRawBufferPointer? {
    guard messages[position].header.msg_flags & Int32(MSG_TRUNC) == 0 else { return nil }
    return UnsafeRawBufferPointer(
      start: bytes + position * Self.maximumDatagramBytes, count: Int(messages[position].length))
  }

  /// Returns the address of the sender, or nil if its family is unknown.
  func sender(at position: Int) -> TransportAddress? { names[position].address }

  /// Returns the time since the kernel received the datagram.
  ///
  /// - Parameter wallClock: the value of `CLOCK_REALTIME` immediately before the batch was read.
  func age(at position: Int, wallClock: timespec) -> Duration {
    guard messages[position].header.msg_controllen >= Self.controlSize else { return .zero }
    let control = controls + position * Self.controlSize
    let head = control.load(as: cmsghdr.self)
    guard head.cmsg_level == SOL_SOCKET, head.cmsg_type == Self.timestampOption else { return .zero }
    let taken = control.load(fromByteOffset: MemoryLayout<cmsghdr>.size, as: timespec.self)
    let age = (wallClock.tv_sec - taken.tv_sec) * 1_000_000_000 + wallClock.tv_nsec - taken.tv_nsec
    // If the wall clock was set in between, the age is unknown; clamping keeps the datagrams in order.
    return .nanoseconds(min(max(0, age), 1_000_000_000))
  }
}
