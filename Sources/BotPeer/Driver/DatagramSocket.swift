internal import Glibc
internal import ICE
internal import NIOCore

/// One UDP socket, bound to one local address; many peers share it.
///
/// It is read and written directly, without a channel: a recorder wakes up two hundred times a second and takes all that has come,
/// instead of waking up for each packet, and each datagram has the time at which the kernel took it. Waking up costs more than a
/// packet does, and a sender that probes the line measures the differences of arrivals (`SO_TIMESTAMPNS`, socket(7)).
///
/// What cannot be sent, because there is no route for example, is left out and harms nobody.
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

  /// By which the kernel knows it.
  let descriptor: Int32
  private let inbox: UnsafeMutableRawBufferPointer
  private let control: UnsafeMutableRawBufferPointer
  private var arrived: [Arrival] = []
  /// What has to be sent, but could not yet.
  private var waiting = CircularBuffer<(datagram: ByteBuffer, remote: TransportAddress)>()
  private var isClosed = false

  /// The longest datagram that is taken whole.
  static let longestDatagram = 2048
  /// Datagrams that are fetched at once, and how often that is done before others have their turn.
  private static let batch = 64
  private static let turns = 8
  /// The kernel's buffers: for arrivals one second of 30 peers at 1 Mb/s. The kernel may grant less.
  private static let receiveBuffer: Int32 = 4 << 20
  private static let sendBuffer: Int32 = 1 << 20
  private static let longestWait = 256
  /// `SO_TIMESTAMPNS` and `SCM_TIMESTAMPNS` of 64-bit Linux, which Swift does not import.
  private static let timestampOption: Int32 = 35

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
    // The kernel tells twice of what it was asked for, the half being for its own needs (socket(7)).
    hasRoom = Self.get(descriptor, SOL_SOCKET, SO_RCVBUF) >= Self.receiveBuffer
    Self.set(descriptor, SOL_SOCKET, SO_SNDBUF, to: Self.sendBuffer)
    Self.set(descriptor, SOL_SOCKET, Self.timestampOption, to: 1)
    if family == AF_INET6 { Self.set(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, to: 1) }
    var name = SocketName(TransportAddress(ip: ip, port: port))
    guard name.withSockAddr({ bind(descriptor, $0, $1) }) == 0, let bound = SocketName.local(of: descriptor) else {
      let code = errno
      Glibc.close(descriptor)
      throw Failure(code: code)
    }
    self.descriptor = descriptor
    address = bound
    inbox = .allocate(byteCount: Self.longestDatagram, alignment: 16)
    control = .allocate(byteCount: 256, alignment: 16)
  }

  deinit {
    close()
    inbox.deallocate()
    control.deallocate()
  }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    Glibc.close(descriptor)
  }

  // MARK: Receiving

  /// One datagram that has come.
  private struct Arrival {
    /// With bytes of its own.
    var datagram: ByteBuffer
    let remote: TransportAddress
    /// How long ago the kernel took it.
    let age: Duration
  }

  /// Hands over the datagrams that have come, each with bytes of its own and the time of its arrival.
  ///
  /// They are fetched first and handed over then, because the kernel's work and ours push each other out of the processor's caches.
  ///
  /// - Returns: whether there may be more.
  func receive(
    _ take: (consuming ByteBuffer, TransportAddress, ContinuousClock.Instant) -> Void
  ) -> Bool {
    for _ in 0..<Self.turns {
      // Both clocks at the same moment, and no work between this and the fetching: what the one is late against the other,
      // all datagrams would seem to have come sooner than they did.
      var wallClock = timespec()
      clock_gettime(CLOCK_REALTIME, &wallClock)
      let now = ContinuousClock.now
      let isMore = fetch(wallClock)
      for place in arrived.indices {
        // Nobody else may have it: what is decrypted in place would be copied first.
        var datagram = ByteBuffer()
        swap(&datagram, &arrived[place].datagram)
        take(datagram, arrived[place].remote, now - arrived[place].age)
      }
      arrived.removeAll(keepingCapacity: true)
      if !isMore || isClosed { return false }
    }
    return true
  }

  /// Fetches what has come, a batch at most.
  ///
  /// - Returns: whether there may be more.
  private func fetch(_ wallClock: timespec) -> Bool {
    for _ in 0..<Self.batch {
      guard !isClosed, receiveOne(wallClock) else { return false }
    }
    return true
  }

  /// Takes the next datagram, unless it is cut off or its sender is not understood; false when there is none.
  private func receiveOne(_ wallClock: timespec) -> Bool {
    var name = SocketName()
    var vector = iovec(iov_base: inbox.baseAddress, iov_len: inbox.count)
    var header = msghdr()
    header.msg_control = control.baseAddress
    header.msg_controllen = control.count
    header.msg_iovlen = 1
    let count = name.withStorage { storage, capacity in
      withUnsafeMutablePointer(to: &vector) { vector in
        header.msg_name = storage
        header.msg_namelen = capacity
        header.msg_iov = vector
        while true {
          let count = recvmsg(descriptor, &header, 0)
          // An ICMP error of something that was sent is told once, and says nothing of what has come.
          if count >= 0 || errno == EAGAIN || errno == EBADF { return count }
          if errno != EINTR && errno != ECONNREFUSED && errno != EHOSTUNREACH && errno != ENETUNREACH { return -1 }
        }
      }
    }
    guard count >= 0 else { return false }
    let isWhole = header.msg_flags & Int32(MSG_TRUNC) == 0
    if isWhole, let remote = name.address {
      arrived.append(
        Arrival(
          datagram: ByteBuffer(bytes: UnsafeRawBufferPointer(rebasing: inbox[..<count])), remote: remote,
          age: age(header.msg_controllen, wallClock)))
    }
    return true
  }

  /// How long ago the kernel took the datagram whose control message has just been read.
  private func age(_ length: Int, _ wallClock: timespec) -> Duration {
    // `cmsghdr`: length, level and type, then the data, here a `timespec`.
    let start = MemoryLayout<cmsghdr>.size
    guard length >= start + MemoryLayout<timespec>.size, let base = control.baseAddress else { return .zero }
    let header = base.loadUnaligned(as: cmsghdr.self)
    guard header.cmsg_level == SOL_SOCKET, header.cmsg_type == Self.timestampOption else { return .zero }
    let taken = base.loadUnaligned(fromByteOffset: start, as: timespec.self)
    let age = (wallClock.tv_sec - taken.tv_sec) * 1_000_000_000 + wallClock.tv_nsec - taken.tv_nsec
    // A wall clock that was set in between tells nothing; what came stays in its order.
    return .nanoseconds(min(max(0, age), 1_000_000_000))
  }

  // MARK: Sending

  /// - Parameter isVital: whether it is sent even when much waits already: checks and handshakes are, media is not.
  func write(_ datagram: ByteBuffer, to remote: TransportAddress, isVital: Bool = true) {
    guard !isClosed, remote.family == address.family else { return }
    if waiting.isEmpty, send(datagram, to: remote) { return }
    if isVital, waiting.count < Self.longestWait {
      waiting.append((datagram, remote))
    } else {
      datagramsDropped &+= 1
    }
  }

  /// Tries again to send what could not be sent.
  func flush() {
    while !isClosed, let first = waiting.first, send(first.datagram, to: first.remote) { waiting.removeFirst() }
  }

  /// Sends, or finds that it never will; false when the kernel has no room for it now.
  private func send(_ datagram: ByteBuffer, to remote: TransportAddress) -> Bool {
    var name = SocketName(remote)
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
