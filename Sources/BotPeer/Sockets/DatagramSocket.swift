internal import Glibc
internal import ICE
internal import Media
internal import NIOCore

/// One UDP socket, bound to one local address and shared by many peers.
///
/// It is read and written directly, without a channel: a recorder wakes up 25 to 200 times a second and reads all
/// queued datagrams instead of waking up for each packet, and each datagram has the time at which the kernel received
/// it. A wakeup costs more than a packet, and a sender that probes the bandwidth measures the differences of arrival
/// times (`SO_TIMESTAMPNS`, socket(7)). Some ms pass after the first such socket of the machine until the kernel begins; a
/// datagram without a time counts as having arrived when it is read.
///
/// A datagram that cannot be sent, for example because there is no route, is dropped without further effect.
final class DatagramSocket {
  /// The error when a socket cannot be created.
  struct Failure: Error, CustomStringConvertible {
    let code: Int32

    /// The message of the system, for example `Address already in use`.
    var description: String { strerror(code).map { String(cString: $0) } ?? "Error \(code)" }
  }

  /// The address that peers see when there is no address translation.
  let address: TransportAddress
  /// Whether the kernel's receive buffer is large enough that datagrams need not be read immediately.
  let hasLargeBuffer: Bool
  /// Datagrams that were dropped because too many were queued for sending.
  private(set) var datagramsDropped: UInt64 = 0
  /// Datagrams that were received and read.
  private(set) var datagramsRead: UInt64 = 0

  /// The file descriptor.
  let descriptor: Int32
  private let inbox = ReceiveBatch()
  private let outbox = SendBatch()
  /// Datagrams that could not be sent yet.
  private var waiting = CircularBuffer<(datagram: ByteBuffer, remote: SocketAddressStorage)>()
  private var isClosed = false

  /// The number of batches that are read before other sockets have their turn.
  static let maximumBatches = 8
  /// The sizes of the kernel's buffers: the receive buffer holds one second of 100 peers at 1 Mb/s, each packet of
  /// which takes twice its size. The kernel may grant less.
  private static let receiveBuffer: Int32 = 16 << 20
  /// A receive buffer of this size need not be read immediately.
  private static let largeBufferThreshold: Int32 = 4 << 20
  private static let sendBuffer: Int32 = 1 << 20
  private static let maximumWait = 256

  /// Binds a socket.
  ///
  /// - Parameters:
  ///   - port: the UDP port; 0 for any free one.
  ///   - interface: the only interface that datagrams may leave and arrive by. Where the kernel does not allow that, before
  ///     Linux 5.7 without privileges, only the address is bound.
  init(ip: IPAddress, port: UInt16, interface: String? = nil) throws(Failure) {
    let family = ip.family == .v4 ? AF_INET : AF_INET6
    let descriptor = socket(
      family, Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw Failure(code: errno) }
    // The first option is for a privileged process, which may exceed the limit.
    Self.set(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, to: Self.receiveBuffer)
    if Self.get(descriptor, SOL_SOCKET, SO_RCVBUF) < Self.receiveBuffer {
      Self.set(descriptor, SOL_SOCKET, SO_RCVBUF, to: Self.receiveBuffer)
    }
    // The kernel reports twice the requested size, half of it for its own bookkeeping (socket(7)).
    hasLargeBuffer = Self.get(descriptor, SOL_SOCKET, SO_RCVBUF) >= Self.largeBufferThreshold
    Self.set(descriptor, SOL_SOCKET, SO_SNDBUF, to: Self.sendBuffer)
    Self.set(descriptor, SOL_SOCKET, ReceiveBatch.timestampOption, to: 1)
    if family == AF_INET6 { Self.set(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, to: 1) }
    if let interface {
      var name = InterfaceName(interface)
      setsockopt(descriptor, SOL_SOCKET, SO_BINDTODEVICE, &name, socklen_t(MemoryLayout<InterfaceName>.size))
    }
    var name = SocketAddressStorage(TransportAddress(ip: ip, port: port))
    guard name.withSockAddr({ bind(descriptor, $0, $1) }) == 0, let bound = SocketAddressStorage.local(of: descriptor)
    else {
      let code = errno
      Glibc.close(descriptor)
      throw Failure(code: code)
    }
    self.descriptor = descriptor
    address = bound
  }

  deinit {
    close()
  }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    Glibc.close(descriptor)
  }

  // MARK: Receiving

  /// Passes on the received datagrams, each with its sender and arrival time.
  ///
  /// - Parameter take: receives the bytes, which it may change in place. If it keeps them, it owns them.
  /// - Returns: whether more datagrams may be queued.
  func receive(_ take: (inout ByteBuffer, TransportAddress, MonotonicInstant) -> Void) -> Bool {
    // The buffer is reused for all datagrams that are not kept.
    var datagram = ByteBuffer()
    for _ in 0..<Self.maximumBatches where !isClosed {
      let (now, wallClock) = Self.bothClocks()
      inbox.fetch(from: descriptor)
      datagramsRead &+= UInt64(inbox.count)
      for position in 0..<inbox.count {
        guard let bytes = inbox.datagram(at: position), let sender = inbox.sender(at: position) else { continue }
        datagram.clear(minimumCapacity: bytes.count)
        datagram.writeBytes(bytes)
        take(&datagram, sender, now - inbox.age(at: position, wallClock: wallClock))
      }
      if inbox.count < ReceiveBatch.capacity { return false }
    }
    return !isClosed
  }

  /// Reads both clocks at almost the same time: what passes between the readings is added to the arrival times.
  ///
  /// A thread can lose its processor between two readings, so they are repeated if they took long, at most twice.
  private static func bothClocks() -> (now: MonotonicInstant, wallClock: timespec) {
    var wallClock = timespec()
    var now = MonotonicInstant.now
    for _ in 0..<3 {
      let before = now
      clock_gettime(CLOCK_REALTIME, &wallClock)
      now = .now
      if now - before < .microseconds(100) { break }
    }
    return (now, wallClock)
  }

  /// `SO_MEMINFO` of Linux, which Swift does not import, and the index of the dropped datagrams in it.
  private static let memoryOption: Int32 = 55
  private static let dropCounterIndex = 8

  /// The number of datagrams that the kernel has dropped because they were not read in time, modulo 2³²
  /// (`SK_MEMINFO_DROPS`); 0 if the kernel does not report it.
  var datagramsOverflowed: UInt32 {
    var values = [UInt32](repeating: 0, count: 16)
    var length = socklen_t(values.count * MemoryLayout<UInt32>.size)
    guard getsockopt(descriptor, SOL_SOCKET, Self.memoryOption, &values, &length) == 0 else { return 0 }
    return values[Self.dropCounterIndex]
  }

  // MARK: Sending

  /// Queues a datagram for the next ``flush()``, or sends earlier when the batch is full. One system call sends the
  /// whole batch.
  ///
  /// - Parameter isEssential: whether the datagram is kept when the kernel's buffer is full: checks and handshakes
  ///   are, media is not.
  func write(_ datagram: ByteBuffer, to remote: TransportAddress, isEssential: Bool = true) {
    guard !isClosed, remote.family == address.family, datagram.readableBytes <= SendBatch.maximumDatagramBytes else {
      return
    }
    if outbox.isFull { flush() }
    outbox.add(datagram, to: remote, isEssential: isEssential)
  }

  /// Sends the queued datagrams, first those that could not be sent before.
  func flush() {
    if isClosed || (outbox.count == 0 && waiting.isEmpty) { return }
    while let first = waiting.first {
      guard send(first.datagram, to: first.remote) else { return keepOutbox() }
      waiting.removeFirst()
    }
    if outbox.send(from: descriptor) == .full { keepOutbox() }
  }

  /// Keeps the essential datagrams of the batch because the kernel's buffer is full, and drops the others.
  private func keepOutbox() {
    outbox.takeAll { datagram, remote, isEssential in
      if isEssential, waiting.count < Self.maximumWait {
        waiting.append((datagram, remote))
      } else {
        datagramsDropped &+= 1
      }
    }
  }

  /// Sends a datagram. Returns false when the kernel's buffer is full; other errors are permanent and ignored.
  private func send(_ datagram: ByteBuffer, to remote: SocketAddressStorage) -> Bool {
    var name = remote
    let count = datagram.withUnsafeReadableBytes { bytes in
      name.withSockAddr { sendto(descriptor, bytes.baseAddress, bytes.count, 0, $0, $1) }
    }
    return count >= 0 || (errno != EAGAIN && errno != ENOBUFS)
  }

  private static func get(_ descriptor: Int32, _ level: Int32, _ option: Int32) -> Int32 {
    var value: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    getsockopt(descriptor, level, option, &value, &length)
    return value
  }

  private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, to value: Int32) {
    var value = value
    setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
  }
}
