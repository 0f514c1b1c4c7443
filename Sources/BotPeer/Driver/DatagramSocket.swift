internal import Glibc
internal import ICE
internal import Media
internal import NIOCore

/// One UDP socket, bound to one local address; many peers share it.
///
/// It is read and written directly, without a channel: a recorder wakes up 25 to 200 times a second and takes all that has come,
/// instead of waking up for each packet, and each datagram has the time at which the kernel took it. Waking up costs more than a
/// packet does, and a sender that probes the line measures the differences of arrivals (`SO_TIMESTAMPNS`, socket(7)).
///
/// What cannot be sent, because there is no route for example, is skipped and harms nobody.
final class DatagramSocket {
  /// Why a socket could not be made.
  struct Failure: Error, CustomStringConvertible {
    let code: Int32

    /// The system's words, for example `Address already in use`.
    var description: String { strerror(code).map { String(cString: $0) } ?? "Error \(code)" }
  }

  /// The address that peers see when nothing translates it.
  let address: TransportAddress
  /// Whether the kernel keeps so much that has come that it need not be fetched at once.
  let hasRoom: Bool
  /// Datagrams that were not sent because too many waited already.
  private(set) var datagramsDropped: UInt64 = 0
  /// Datagrams that came and were read.
  private(set) var datagramsRead: UInt64 = 0

  /// By which the kernel knows it.
  let descriptor: Int32
  private let inbox = ReceiveBatch()
  private let outbox = SendBatch()
  /// What has to be sent, but could not yet.
  private var waiting = CircularBuffer<(datagram: ByteBuffer, remote: SocketAddressStorage)>()
  private var isClosed = false

  /// How often datagrams are fetched before others have their turn.
  static let turns = 8
  /// The kernel's buffers: for arrivals one second of 100 peers at 1 Mb/s, each packet of which takes twice its size. The kernel
  /// may grant less.
  private static let receiveBuffer: Int32 = 16 << 20
  /// With so much, what has come need not be fetched at once.
  private static let roomyBuffer: Int32 = 4 << 20
  private static let sendBuffer: Int32 = 1 << 20
  private static let maximumWait = 256

  /// Binds a socket.
  ///
  /// - Parameter port: 0 for any free one.
  init(ip: IPAddress, port: UInt16) throws(Failure) {
    let family = ip.family == .v4 ? AF_INET : AF_INET6
    let descriptor = socket(
      family, Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw Failure(code: errno) }
    // The first is for a privileged process, which may have more than others.
    Self.set(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, to: Self.receiveBuffer)
    if Self.get(descriptor, SOL_SOCKET, SO_RCVBUF) < Self.receiveBuffer {
      Self.set(descriptor, SOL_SOCKET, SO_RCVBUF, to: Self.receiveBuffer)
    }
    // The kernel tells twice of what it was requested, the half being for its own needs (socket(7)).
    hasRoom = Self.get(descriptor, SOL_SOCKET, SO_RCVBUF) >= Self.roomyBuffer
    Self.set(descriptor, SOL_SOCKET, SO_SNDBUF, to: Self.sendBuffer)
    Self.set(descriptor, SOL_SOCKET, ReceiveBatch.timestampOption, to: 1)
    if family == AF_INET6 { Self.set(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, to: 1) }
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

  /// Hands over the datagrams that have come, each with its sender and the time of its arrival.
  ///
  /// - Parameter take: is lent the bytes, to be changed in place. Anyone who keeps them has them for himself.
  /// - Returns: whether there may be more.
  func receive(_ take: (inout ByteBuffer, TransportAddress, MonotonicInstant) -> Void) -> Bool {
    // The same memory for all that nobody keeps.
    var datagram = ByteBuffer()
    for _ in 0..<Self.turns where !isClosed {
      // Both clocks at the same moment, and no work between this and the fetching: what the one is late against the other,
      // all datagrams would seem to have come sooner than they did.
      var wallClock = timespec()
      clock_gettime(CLOCK_REALTIME, &wallClock)
      let now = MonotonicInstant.now
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

  /// `SO_MEMINFO` of Linux, which Swift does not import, and the place in it of the datagrams that were dropped.
  private static let memoryOption: Int32 = 55
  private static let droppedPlace = 8

  /// How many datagrams the kernel has dropped because they were not read in time, modulo 2³² (`SK_MEMINFO_DROPS`); 0 where it
  /// does not say.
  var datagramsOverflowed: UInt32 {
    var values = [UInt32](repeating: 0, count: 16)
    var length = socklen_t(values.count * MemoryLayout<UInt32>.size)
    guard getsockopt(descriptor, SOL_SOCKET, Self.memoryOption, &values, &length) == 0 else { return 0 }
    return values[Self.droppedPlace]
  }

  // MARK: Sending

  /// Takes a datagram to be sent with the next ``flush()``, or sooner when many wait; together they cost one system call.
  ///
  /// - Parameter isVital: whether it is kept when the kernel has no room: checks and handshakes are, media is not.
  func write(_ datagram: ByteBuffer, to remote: TransportAddress, isVital: Bool = true) {
    guard !isClosed, remote.family == address.family, datagram.readableBytes <= SendBatch.maximumDatagramBytes else {
      return
    }
    if outbox.isFull { flush() }
    outbox.add(datagram, to: remote, isVital: isVital)
  }

  /// Sends what was written, and tries again to send what could not be sent before.
  func flush() {
    if isClosed || (outbox.count == 0 && waiting.isEmpty) { return }
    while let first = waiting.first {
      guard send(first.datagram, to: first.remote) else { return keepOutbox() }
      waiting.removeFirst()
    }
    if outbox.send(from: descriptor) == .full { keepOutbox() }
  }

  /// The kernel has no room: what is vital waits for it.
  private func keepOutbox() {
    outbox.takeAll { datagram, remote, isVital in
      if isVital, waiting.count < Self.maximumWait {
        waiting.append((datagram, remote))
      } else {
        datagramsDropped &+= 1
      }
    }
  }

  /// Sends, or finds that it never will; false when the kernel has no room for it now.
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
