internal import Glibc
internal import ICE
internal import NIOCore

/// A UDP socket at port 5353 of all addresses, shared with the other programs of this machine, that has joined the
/// IPv4 group of multicast DNS (RFC 6762, 3 and 15.1).
///
/// It belongs to one event loop. Browsers announce their addresses only by IPv4, so there is no socket for IPv6.
final class MDNSSocket {
  let descriptor: Int32
  /// The IPv4 addresses of the interfaces on which the group was joined, in order.
  private(set) var interfaces: [IPAddress] = []
  /// The addresses on which it could not be joined.
  private var unusable: Set<IPAddress> = []
  private var bytes = [UInt8](repeating: 0, count: maximumDatagramBytes)
  private var isClosed = false

  /// A message has at most 9,000 bytes, headers included (RFC 6762, 17); longer datagrams are dropped.
  private static let maximumDatagramBytes = 9_000
  /// The number of datagrams that are read before other sockets have their turn.
  private static let maximumBatch = 32
  /// The kernel allows 20 memberships of a socket by default.
  private static let maximumInterfaces = 16

  init() throws(DatagramSocket.Failure) {
    let descriptor = socket(
      AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw DatagramSocket.Failure(code: errno) }
    for option in [SO_REUSEADDR, SO_REUSEPORT] { Self.set(descriptor, SOL_SOCKET, option, to: 1 as Int32) }
    Self.set(descriptor, Int32(IPPROTO_IP), IP_MULTICAST_TTL, to: 255 as Int32)
    // Only what arrives on the interfaces that this socket has joined.
    Self.set(descriptor, Int32(IPPROTO_IP), IP_MULTICAST_ALL, to: 0 as Int32)
    var name = SocketAddressStorage(TransportAddress(ip: .v4(0), port: MDNSMessage.port))
    guard name.withSockAddr({ bind(descriptor, $0, $1) }) == 0 else {
      let code = errno
      Glibc.close(descriptor)
      throw DatagramSocket.Failure(code: code)
    }
    self.descriptor = descriptor
  }

  deinit {
    close()
  }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    Glibc.close(descriptor)
  }

  /// Joins the group on the interfaces with these addresses, unless that has been done or tried; at most 16 are joined.
  func join(_ addresses: some Sequence<IPAddress>) {
    guard case .v4(let group) = MDNSMessage.groupV4.ip else { return }
    for address in addresses where !interfaces.contains(address) && !unusable.contains(address) {
      guard !isClosed, interfaces.count < Self.maximumInterfaces, case .v4(let value) = address else { continue }
      // `struct ip_mreq`: the group and the interface.
      let membership = (group.bigEndian, value.bigEndian)
      if Self.set(descriptor, Int32(IPPROTO_IP), IP_ADD_MEMBERSHIP, to: membership) {
        interfaces.append(address)
      } else {
        unusable.insert(address)
      }
    }
  }

  /// Sends a datagram to the IPv4 group on each interface. One that cannot be sent is dropped.
  func send(_ datagram: ByteBuffer) {
    guard !isClosed else { return }
    var name = SocketAddressStorage(MDNSMessage.groupV4)
    for case .v4(let value) in interfaces {
      guard Self.set(descriptor, Int32(IPPROTO_IP), IP_MULTICAST_IF, to: value.bigEndian) else {
        continue
      }
      _ = datagram.withUnsafeReadableBytes { bytes in
        name.withSockAddr { sendto(descriptor, bytes.baseAddress, bytes.count, 0, $0, $1) }
      }
    }
  }

  /// Passes on the received datagrams, each with its sender.
  ///
  /// - Returns: whether more datagrams may be queued.
  func receive(_ take: (ByteBuffer, TransportAddress) -> Void) -> Bool {
    for _ in 0..<Self.maximumBatch where !isClosed {
      var sender = SocketAddressStorage()
      let count = sender.withStorage { storage, capacity in
        var length = capacity
        return recvfrom(
          descriptor, &bytes, bytes.count, Int32(MSG_TRUNC), storage.assumingMemoryBound(to: sockaddr.self),
          &length)
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return false }
      if count <= bytes.count, let sender = sender.address { take(ByteBuffer(bytes: bytes.prefix(count)), sender) }
    }
    return !isClosed
  }

  @discardableResult
  private static func set<Value>(_ descriptor: Int32, _ level: Int32, _ option: Int32, to value: Value) -> Bool {
    withUnsafeBytes(of: value) { setsockopt(descriptor, level, option, $0.baseAddress, socklen_t($0.count)) == 0 }
  }
}
