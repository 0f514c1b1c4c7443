internal import ICE
internal import Logging
internal import Media
internal import NIOCore
internal import PeerEngine

/// The sockets on the addresses of this machine, which may change during a call.
extension PeerDriver {
  /// Binds a socket on each address; at least one must succeed.
  ///
  /// - Parameter index: what is added to the configured ports.
  func bind(_ addresses: [IPAddress], index: Int) throws(Peer.StartError) -> [TransportAddress] {
    port = try Self.port(configuration.udpPort, index)
    tcpPort = try Self.port(configuration.tcpPort, index)
    var problems: [String] = []
    for ip in addresses {
      do {
        let socket = try DatagramSocket(ip: ip, port: port, interface: configuration.interface(of: ip))
        sockets[socket.address] = socket
        bySocket[socket.descriptor] = socket
      } catch {
        problems.append("\(ip): \(error)")
      }
    }
    guard !sockets.isEmpty else { throw .noSocket(port: port, problems: problems) }
    for problem in problems { log.debug("no UDP socket", metadata: ["reason": "\(problem)"]) }
    if configuration.iceTransportPolicy == .all {
      demultiplexer.localAddresses = Array(sockets.keys)
      for ip in addresses where sockets.keys.contains(where: { $0.ip == ip }) {
        demultiplexer.localAddresses += try addTCP(ip)
      }
    }
    isListener = configuration.sending.isEmpty && sockets.values.allSatisfy(\.hasLargeBuffer)
    let poller = SocketPoller.of(loop)
    self.poller = poller
    poller.join(self, descriptors: bySocket.keys)
    if hostNames != nil, configuration.iceTransportPolicy == .all { joinNames() }
    nat64?.networkChanged(sockets.keys.map(\.ip), now: .now)
    if configuration.followsAddresses, let monitor = AddressMonitor() {
      addressMonitor = monitor
      poller.add(monitor.descriptor, of: self)
    }
    return Array(sockets.keys) + demultiplexer.localAddresses.filter { $0.transport == .tcp && !$0.isActiveTCP }
  }

  /// The port of the loop with this index.
  private static func port(_ configured: UInt16, _ index: Int) throws(Peer.StartError) -> UInt16 {
    guard configured > 0 else { return 0 }
    let (port, overflow) = configured.addingReportingOverflow(UInt16(clamping: index))
    guard !overflow else {
      throw .noSocket(
        port: configured, problems: ["thread \(index + 1) would need the port \(Int(configured) + index)"])
    }
    return port
  }

  /// Accepts and opens TCP connections at an address, if ICE over TCP is used.
  ///
  /// - Returns: the local addresses for the ICE agents.
  private func addTCP(_ ip: IPAddress) throws(Peer.StartError) -> [TransportAddress] {
    guard configuration.usesTCP else { return [] }
    let tcp = tcp ?? makeTCP()
    self.tcp = tcp
    do {
      return [try tcp.listen(at: ip, port: tcpPort, interface: configuration.interface(of: ip)), .activeTCP(ip)]
    } catch {
      // The user asked for this port, so that it is open in a firewall.
      if tcpPort > 0 {
        tcp.close()
        throw .noListener(port: tcpPort, problem: "\(ip): \(error)")
      }
      log.debug("no TCP socket", metadata: ["address": "\(ip)", "reason": "\(error)"])
      return [.activeTCP(ip)]
    }
  }

  private func makeTCP() -> TCPConnections {
    TCPConnections(
      on: loop, log: log,
      .init(
        received: { [weak self] datagram, connection in
          self?.datagrams.received(
            &datagram, from: connection.remote, to: connection.local, of: connection.opener, now: .now)
        },
        isCheck: { [weak self] in self?.demultiplexer.isCheck($0) ?? false },
        participant: { [weak self] connection in
          self?.demultiplexer.participant(local: connection.local, remote: connection.remote)
        },
        readEnded: { [weak self] in self?.carryOutSoon() },
        closed: { [weak self] connection in
          guard let self, let participant = connection.owner else { return }
          turn { demultiplexer, now in
            demultiplexer.connectionEnded(
              local: connection.local, remote: connection.remote, of: participant, now: now)
          }
        }))
  }

  /// Opens sockets on new addresses of this machine, and closes those of vanished ones.
  func updateAddresses(now: MonotonicInstant) {
    guard let due = addressesDue, due <= now else { return }
    addressesDue = nil
    guard let present = try? configuration.addressesToBind() else { return }
    for (address, socket) in sockets where !present.contains(address.ip) {
      log.info("address is gone", metadata: ["address": "\(address.ip)"])
      sockets[address] = nil
      bySocket[socket.descriptor] = nil
      gatherers[address] = nil
      poller?.remove(socket.descriptor)
      socket.close()
      demultiplexer.removeLocal(address, now: now)
      for tcpAddress in tcp?.remove(address.ip) ?? [] { demultiplexer.removeLocal(tcpAddress, now: now) }
    }
    for ip in present where !sockets.keys.contains(where: { $0.ip == ip }) {
      guard let socket = try? DatagramSocket(ip: ip, port: port, interface: configuration.interface(of: ip)) else {
        continue
      }
      log.info("address is new", metadata: ["address": "\(ip)"])
      sockets[socket.address] = socket
      bySocket[socket.descriptor] = socket
      poller?.add(socket.descriptor, of: self)
      guard configuration.iceTransportPolicy == .all else { continue }
      for address in [socket.address] + ((try? addTCP(ip)) ?? []) { demultiplexer.addLocalHost(address, now: now) }
    }
    nat64?.networkChanged(sockets.keys.map(\.ip), now: now)
    useServers(now: now)
    if names != nil { joinNames() }
  }
}
