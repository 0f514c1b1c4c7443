internal import ICE
internal import Logging
internal import NIOCore

/// Looks up the `.local` names of participants on the local network, and answers for our own.
///
/// It belongs to the event loop of a driver. It carries out what ``MDNSResolver`` and ``MDNSResponder`` decide.
final class NameResolver {
  /// The result for a name in lowercase letters; without addresses nobody answered.
  typealias ResolvedName = (name: String, addresses: [IPAddress])

  private var resolver = MDNSResolver()
  /// Nil if our addresses are not hidden.
  private var responder: MDNSResponder?
  private var socket: MDNSSocket?
  /// Whether the socket could not be opened.
  private var hasFailed = false
  private let log: Logger
  /// Called for the new socket, and before it is closed.
  private let opened: (MDNSSocket) -> Void
  private let closing: (MDNSSocket) -> Void

  init(
    hostNames: HostNames? = nil, log: Logger, opened: @escaping (MDNSSocket) -> Void,
    closing: @escaping (MDNSSocket) -> Void
  ) {
    responder = hostNames.map(MDNSResponder.init)
    self.log = log
    self.opened = opened
    self.closing = closing
  }

  /// The time of the next ``poll(now:)``.
  var deadline: ContinuousClock.Instant? {
    guard let own = responder?.deadline else { return resolver.deadline }
    return resolver.deadline.map { min($0, own) } ?? own
  }

  /// Uses the interfaces with these addresses, besides those before. Loopback ones are not used. The socket is opened at the
  /// first call.
  func join(_ interfaces: some Sequence<IPAddress>) {
    if socket == nil, !hasFailed { open() }
    socket?.join(interfaces.filter { !$0.isLoopback })
  }

  /// Starts to look up a name. A result follows in any case.
  func resolve(_ name: String, now: ContinuousClock.Instant) { resolver.resolve(name, now: now) }

  private func open() {
    do {
      let new = try MDNSSocket()
      socket = new
      opened(new)
    } catch {
      hasFailed = true
      log.log(
        level: responder == nil ? .debug : .warning, "multicast DNS cannot be used",
        metadata: ["port": "\(MDNSMessage.port)", "reason": "\(error)"])
    }
  }

  /// Reads the datagrams of the socket; nil if the descriptor is not its.
  ///
  /// - Returns: whether more datagrams may be queued.
  func receive(at descriptor: Int32) -> Bool? {
    guard let socket, socket.descriptor == descriptor else { return nil }
    return socket.receive { datagram, source in
      let now = ContinuousClock.now
      resolver.received(datagram, from: source, now: now)
      responder?.received(datagram, now: now)
    }
  }

  /// Sends the queries and responses that are due, and returns the results.
  func poll(now: ContinuousClock.Instant) -> [ResolvedName] {
    guard let deadline, deadline <= now else { return [] }
    var results: [ResolvedName] = []
    for response in responder?.poll(now: now) ?? [] { socket?.send(response) }
    for action in resolver.poll(now: now) {
      switch action {
      case .send(let query, let group): if group == MDNSMessage.groupV4 { socket?.send(query) }
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
    guard let socket else { return }
    for message in responder?.withdraw() ?? [] { socket.send(message) }
    closing(socket)
    socket.close()
    self.socket = nil
    hasFailed = true
  }
}
