internal import Glibc
internal import ICE
internal import NIOCore

/// A UDP socket at port 5353 of all addresses of a family, shared with the other programs of this machine, that has joined
/// the group of multicast DNS of that family (RFC 6762, 3 and 15.1).
///
/// It belongs to one event loop.
final class MDNSSocket {
  let descriptor: Int32
  /// `224.0.0.251:5353` or `[ff02::fb]:5353`.
  let group: TransportAddress
  /// The addresses by which the interfaces were named on which the group was joined, in order. An interface has several
  /// IPv6 addresses; each is named once.
  private(set) var interfaces: [IPAddress] = []
  /// The indices of the interfaces on which the IPv6 group was joined.
  private var indices: [UInt32] = []
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

  /// `IPV6_MULTICAST_ALL` of Linux, which Swift does not import.
  private static let multicastAllV6: Int32 = 29

  init(_ family: IPAddress.Family = .v4) throws(DatagramSocket.Failure) {
    group = family == .v4 ? MDNSMessage.groupV4 : MDNSMessage.groupV6
    let descriptor = socket(
      family == .v4 ? AF_INET : AF_INET6, Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0
    )
    guard descriptor >= 0 else { throw DatagramSocket.Failure(code: errno) }
    for option in [SO_REUSEADDR, SO_REUSEPORT] { Self.set(descriptor, SOL_SOCKET, option, to: 1 as Int32) }
    // Only what arrives on the interfaces that this socket has joined.
    switch family {
    case .v4:
      Self.set(descriptor, Int32(IPPROTO_IP), IP_MULTICAST_TTL, to: 255 as Int32)
      Self.set(descriptor, Int32(IPPROTO_IP), IP_MULTICAST_ALL, to: 0 as Int32)
    case .v6:
      Self.set(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, to: 1 as Int32)
      Self.set(descriptor, Int32(IPPROTO_IPV6), IPV6_MULTICAST_HOPS, to: 255 as Int32)
      Self.set(descriptor, Int32(IPPROTO_IPV6), Self.multicastAllV6, to: 0 as Int32)
    }
    let any: IPAddress = family == .v4 ? .v4(0) : .v6(high: 0, low: 0)
    var name = SocketAddressStorage(TransportAddress(ip: any, port: MDNSMessage.port))
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

  /// Joins the group on the interfaces with these addresses of the family, unless that has been done or tried; at most 16 are
  /// joined.
  func join(_ addresses: some Sequence<IPAddress>) {
    for address in addresses where !interfaces.contains(address) && !unusable.contains(address) {
      guard !isClosed, interfaces.count < Self.maximumInterfaces, address.family == group.family else { continue }
      if joinGroup(at: address) { interfaces.append(address) } else { unusable.insert(address) }
    }
  }

  /// - Returns: whether the interface with this address has the group now and did not have it before.
  private func joinGroup(at address: IPAddress) -> Bool {
    switch (group.ip, address) {
    case (.v4(let group), .v4(let own)):
      // `struct ip_mreq`: the group and the interface.
      return Self.set(descriptor, Int32(IPPROTO_IP), IP_ADD_MEMBERSHIP, to: (group.bigEndian, own.bigEndian))
    case (.v6(let high, let low), .v6):
      guard let index = NetworkInterfaces.index(of: address), !indices.contains(index) else { return false }
      // `struct ipv6_mreq`: the group and the index of the interface, and four bytes of padding.
      let membership = (high.bigEndian, low.bigEndian, index, 0 as UInt32)
      guard Self.set(descriptor, Int32(IPPROTO_IPV6), IPV6_JOIN_GROUP, to: membership) else { return false }
      indices.append(index)
      return true
    default: return false
    }
  }

  /// Sends a datagram to the group on each interface. One that cannot be sent is dropped.
  func send(_ datagram: ByteBuffer) {
    guard !isClosed else { return }
    for case .v4(let value) in interfaces
    where Self.set(descriptor, Int32(IPPROTO_IP), IP_MULTICAST_IF, to: value.bigEndian) {
      sendToGroup(datagram)
    }
    for index in indices where Self.set(descriptor, Int32(IPPROTO_IPV6), IPV6_MULTICAST_IF, to: index) {
      sendToGroup(datagram)
    }
  }

  private func sendToGroup(_ datagram: ByteBuffer) {
    var name = SocketAddressStorage(group)
    _ = datagram.withUnsafeReadableBytes { bytes in
      name.withSockAddr { sendto(descriptor, bytes.baseAddress, bytes.count, 0, $0, $1) }
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
