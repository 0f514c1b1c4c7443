internal import ICE
internal import Media
public import NIOCore
internal import NIOPosix
public import Signalling

/// What this machine can reach: addresses, STUN servers, TURN servers and a room server.
///
/// ```swift
/// var configuration = NetworkDiagnosis.Configuration()
/// configuration.iceServers = [ICEServer(url: "stun:stun.example.org")]
/// let diagnosis = try await NetworkDiagnosis.run(configuration, on: group.next())
/// ```
public struct NetworkDiagnosis: Sendable, Hashable, Codable {
  public struct Configuration: Sendable {
    /// STUN servers, and TURN servers with a user name and a password. At most 16 are used.
    public var iceServers: [ICEServer] = []
    public var roomServer: RoomServerAddress?
    /// A file with certificates in PEM that TLS connections trust; nil for those of the system.
    public var caCertificate: String?
    /// The local addresses to send from; empty for those that the system chooses.
    public var bindAddresses: [String] = []
    /// The only interfaces to send from to STUN and TURN servers; empty for any. Not used together with `bindAddresses`.
    public var bindInterfaces: [String] = []
    /// Whether calls use the loopback addresses as well: for a room on this machine.
    public var includesLoopback = false
    /// How long the whole measurement may take.
    public var timeout: Duration = .seconds(10)

    public init() {}

    var sources: SourceAddresses { SourceAddresses(interfaces: bindInterfaces, addresses: bindAddresses) }
  }

  public var interfaces: [InterfaceDiagnosis] = []
  /// The NAT64 of a network without IPv4; nil if this machine has an IPv4 address.
  public var ipv6Only: IPv6OnlyDiagnosis?
  /// One entry for each address of each server.
  public var stun: [STUNServerDiagnosis] = []
  /// One entry for each address and transport of each server.
  public var turn: [TURNServerDiagnosis] = []
  public var roomServer: RoomServerDiagnosis?

  public init() {}

  private static let maximumServers = 16
  /// How many addresses of a name are used.
  private static let maximumAddresses = 4

  /// Measures everything at the same time.
  ///
  /// - Throws: `Peer.StartError` for a URL that is invalid, or an interface that does not exist.
  public static func run(
    _ configuration: Configuration, on loop: any EventLoop
  ) async throws -> NetworkDiagnosis {
    let start = MonotonicInstant.now
    var diagnosis = NetworkDiagnosis()
    let sources = configuration.sources
    for name in sources.interfaces where !NetworkInterfaces.exists(name) { throw Peer.StartError.noInterface(name) }
    diagnosis.interfaces = try InterfaceDiagnosis.all(configuration)
    let lookups = try configuration.iceServers.prefix(maximumServers).map { server in
      (server: server, url: try server.parsed())
    }
    // Names are resolved within the first half.
    let limit = configuration.timeout / 2
    async let room = roomServer(configuration, on: loop, start: start)
    let used = diagnosis.interfaces.filter(\.isUsed).compactMap { IPAddress($0.address) }
    async let network = IPv6OnlyDiagnosis.find(used, on: loop, within: limit)
    var found = await withTaskGroup(of: (Int, [TransportAddress]).self) { group in
      for (index, lookup) in lookups.enumerated() {
        group.addTask {
          (index, await addresses(of: lookup.url.host, port: Int(lookup.url.port), on: loop, within: limit))
        }
      }
      return await group.reduce(into: [Int: [TransportAddress]]()) { $0[$1.0] = $1.1 }
    }
    let (ipv6Only, nat64) = await network ?? (nil, nil)
    diagnosis.ipv6Only = ipv6Only
    if let nat64 { found = found.mapValues { nat64.reachable($0) } }
    let stunServers = lookups.indices.filter { lookups[$0].url.kind == .stun }.flatMap { found[$0] ?? [] }
    let remaining = max(.milliseconds(100), configuration.timeout - (.now - start))
    let begin = MonotonicInstant.now

    (diagnosis.stun, diagnosis.turn) = await withTaskGroup(
      of: (order: Int, stun: STUNServerDiagnosis?, turn: TURNServerDiagnosis?).self
    ) { group in
      var order = 0
      for (index, (server, url)) in lookups.enumerated() {
        let addresses = found[index] ?? []
        if url.kind == .stun {
          order += 1
          group.addTask { [order] in
            var missing = STUNServerDiagnosis(url: "\(url)")
            missing.failure = "The name \(url.host) has no address."
            return (order, addresses.isEmpty ? missing : nil, nil)
          }
          for address in addresses {
            order += 1
            let measurement = STUNServerMeasurement(
              url: "\(url)", server: address, otherServers: stunServers, loop: loop, start: begin, timeout: remaining,
              sources: sources, nat64: nat64)
            group.addTask { [order] in (order, await measurement.result(), nil) }
          }
          continue
        }
        let credentials = server.username.map { TURNCredentials(username: $0, password: server.credential ?? "") }
        // Without a transport in the URL calls use UDP; whether TCP would work is worth knowing.
        let isOpen = url.transport == .udp && !server.url.contains("?")
        for transport in isOpen ? [ICEServerURL.Transport.udp, .tcp] : [url.transport] {
          let tried = ICEServerURL(
            kind: .turn, transport: transport, host: url.host, port: url.port, credentials: nil)
          let result = TURNServerDiagnosis(
            url: "\(tried)", transport: "\(transport)", isUsedByCalls: transport == url.transport)
          for address in addresses.isEmpty ? [nil] : addresses.map(Optional.some) {
            order += 1
            group.addTask { [order] in
              var result = result
              guard let address, let credentials = credentials ?? url.credentials else {
                result.failure =
                  address == nil
                  ? "The name \(url.host) has no address." : "A TURN server needs a user name and a password."
                return (order, nil, result)
              }
              var measurement = TURNServerMeasurement(
                tried, at: address, credentials: credentials, result, on: loop, start: begin, timeout: remaining,
                caCertificate: configuration.caCertificate, sources: sources, nat64: nat64)
              return (order, nil, await measurement.measured())
            }
          }
        }
      }
      var all: [(order: Int, stun: STUNServerDiagnosis?, turn: TURNServerDiagnosis?)] = []
      for await one in group { all.append(one) }
      all.sort { $0.order < $1.order }
      return (all.compactMap(\.stun), all.compactMap(\.turn))
    }
    diagnosis.roomServer = await room
    return diagnosis
  }

  private static func roomServer(
    _ configuration: Configuration, on loop: any EventLoop, start: MonotonicInstant
  ) async -> RoomServerDiagnosis? {
    guard let server = configuration.roomServer else { return nil }
    let addresses = await addresses(of: server.host, port: server.port, on: loop, within: configuration.timeout / 2)
    return await RoomServerMeasurement(
      server: server, addresses: addresses, loop: loop, start: start, timeout: configuration.timeout,
      caCertificate: configuration.caCertificate
    ).result()
  }

  /// Resolves a name; empty if that fails or takes too long.
  private static func addresses(
    of host: String, port: Int, on loop: any EventLoop, within limit: Duration
  ) async -> [TransportAddress] {
    guard let port = UInt16(exactly: port) else { return [] }
    let promise = loop.makePromise(of: [TransportAddress].self)
    let timer = loop.scheduleTask(in: TimeAmount(limit)) { promise.succeed([]) }
    NIOThreadPool.singleton.runIfActive(eventLoop: loop) { ICEServers.lookUp(host, port: port) }
      .whenComplete { promise.succeed((try? $0.get()) ?? []) }
    let found = (try? await promise.futureResult.get()) ?? []
    timer.cancel()
    return Array(found.filter(\.isReachable).prefix(maximumAddresses))
  }
}

extension NAT64Prefix {
  /// Returns addresses as a machine without IPv4 reaches them, each once.
  fileprivate func reachable(_ addresses: [TransportAddress]) -> [TransportAddress] {
    addresses.reduce(into: []) { result, address in
      let reachable = synthesized(from: address) ?? address
      if !result.contains(reachable) { result.append(reachable) }
    }
  }
}

extension ICEServer {
  /// - Throws: `Peer.StartError` if the URL is invalid.
  fileprivate func parsed() throws(Peer.StartError) -> ICEServerURL {
    do {
      return try ICEServerURL(parsing: url)
    } catch {
      throw .badIceServer(shown, reason: "\(error)")
    }
  }
}
