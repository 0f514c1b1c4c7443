internal import ICE
internal import Logging
internal import Media
internal import NIOCore

/// Looks up the `.local` names of participants on the local network, and answers for our own.
///
/// It belongs to the event loop of a driver. It carries out what ``MDNSResolver`` and ``MDNSResponder`` decide.
final class NameResolver {
  /// The result for a name in lowercase letters; without addresses nobody answered.
  typealias ResolvedName = (name: String, addresses: [IPAddress])

  /// Multicast DNS over one family. Each has its own limits.
  private struct Link {
    let socket: MDNSSocket
    /// Nil if our addresses are not hidden.
    var responder: MDNSResponder?
  }

  private var resolver = MDNSResolver()
  private let hostNames: HostNames?
  private var links: [IPAddress.Family: Link] = [:]
  /// The families whose socket could not be opened, or was closed.
  private var unusable: Set<IPAddress.Family> = []
  private let log: Logger
  /// Called for the new socket, and before it is closed.
  private let opened: (MDNSSocket) -> Void
  private let closing: (MDNSSocket) -> Void

  init(
    hostNames: HostNames? = nil, log: Logger, opened: @escaping (MDNSSocket) -> Void,
    closing: @escaping (MDNSSocket) -> Void
  ) {
    self.hostNames = hostNames
    self.log = log
    self.opened = opened
    self.closing = closing
  }

  /// The time of the next ``poll(now:)``.
  var deadline: MonotonicInstant? {
    (links.values.map { $0.responder?.deadline } + [resolver.deadline]).compactMap(\.self).min()
  }

  /// Uses the interfaces with these addresses, besides those before. Loopback ones are not used. The socket of a family is
  /// opened when there is an address of it.
  func join(_ interfaces: some Sequence<IPAddress>) {
    let addresses = Dictionary(grouping: interfaces, by: \.family)
    for (family, own) in addresses {
      if links[family] == nil, !unusable.contains(family) { open(family) }
      links[family]?.socket.join(own.filter { !$0.isLoopback })
    }
  }

  /// Starts to look up a name. A result follows in any case.
  func resolve(_ name: String, now: MonotonicInstant) { resolver.resolve(name, now: now) }

  private func open(_ family: IPAddress.Family) {
    do {
      let new = try MDNSSocket(family)
      links[family] = Link(socket: new, responder: hostNames.map(MDNSResponder.init))
      opened(new)
    } catch {
      unusable.insert(family)
      log.log(
        level: hostNames == nil ? .debug : .warning, "multicast DNS cannot be used",
        metadata: ["port": "\(MDNSMessage.port)", "reason": "\(error)"])
    }
  }

  /// Reads the datagrams of a socket; nil if the descriptor is of none.
  ///
  /// - Returns: whether more datagrams may be queued.
  func receive(at descriptor: Int32) -> Bool? {
    guard let (family, link) = links.first(where: { $0.value.socket.descriptor == descriptor }) else { return nil }
    return link.socket.receive { datagram, source in
      let now = MonotonicInstant.now
      resolver.received(datagram, from: source, now: now)
      links[family]?.responder?.received(datagram, now: now)
    }
  }

  /// Sends the queries and responses that are due, and returns the results.
  func poll(now: MonotonicInstant) -> [ResolvedName] {
    guard let deadline, deadline <= now else { return [] }
    var results: [ResolvedName] = []
    for (family, link) in links {
      for response in links[family]?.responder?.poll(now: now) ?? [] { link.socket.send(response) }
    }
    for action in resolver.poll(now: now) {
      switch action {
      case .send(let query, let group): links[group.family]?.socket.send(query)
      case .resolved(let name, let addresses):
        log.debug(
          "name resolved",
          metadata: ["name": "\(name)", "addresses": "\(addresses.map(\.description).joined(separator: " "))"])
        results.append((name, addresses))
      case .failed(let name):
        log.debug("name not resolved", metadata: ["name": "\(name)"])
        results.append((name, []))
      }
    }
    return results
  }

  func close() {
    for (family, link) in links {
      for message in links[family]?.responder?.withdraw() ?? [] { link.socket.send(message) }
      closing(link.socket)
      link.socket.close()
      unusable.insert(family)
    }
    links = [:]
  }
}
