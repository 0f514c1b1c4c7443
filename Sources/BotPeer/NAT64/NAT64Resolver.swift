internal import Glibc
internal import ICE
internal import Media
internal import NIOCore
internal import NIOPosix

/// Finds the NAT64 prefix of the network with the system's resolver.
///
/// It belongs to the event loop of a driver, and looks up on a thread pool, so that the loop never waits. It carries out what
/// ``NAT64Discovery`` decides.
final class NAT64Resolver {
  private var discovery = NAT64Discovery()
  private var wasDiscovering = false
  private let loop: any EventLoop
  /// Called on the loop when ``poll(now:)`` has something to do.
  private let answered: (MonotonicInstant) -> Void

  init(on loop: any EventLoop, answered: @escaping (MonotonicInstant) -> Void) {
    self.loop = loop
    self.answered = answered
  }

  /// The prefix, as far as it is known.
  var prefix: NAT64Prefix? { discovery.prefix }

  /// Whether the first lookup in this network has not ended yet.
  var isDiscovering: Bool { discovery.isDiscovering }

  /// The time of the next ``poll(now:)``.
  var deadline: MonotonicInstant? { discovery.deadline }

  /// Handles the addresses of this machine that are used, at the start and after each change.
  func networkChanged(_ addresses: some Sequence<IPAddress>, now: MonotonicInstant) {
    discovery.networkChanged(isNeeded: Self.isNeeded(addresses), now: now)
  }

  /// Whether the addresses are those of a network without IPv4; loopback ones do not count.
  static func isNeeded(_ addresses: some Sequence<IPAddress>) -> Bool {
    Set(addresses.lazy.filter { !$0.isLoopback }.map(\.family)) == [.v6]
  }

  /// Begins lookups that are due.
  ///
  /// - Returns: whether the prefix has changed, or the first lookup has ended.
  func poll(now: MonotonicInstant) -> Bool {
    var hasNews = false
    for action in discovery.poll(now: now) {
      switch action {
      case .lookUp: lookUp()
      case .changed: hasNews = true
      }
    }
    if wasDiscovering, !isDiscovering { hasNews = true }
    wasDiscovering = isDiscovering
    return hasNews
  }

  private func lookUp() {
    NIOThreadPool.singleton.runIfActive(eventLoop: loop) { Self.addressesOfDiscoveryName() }.assumeIsolated()
      .whenComplete { [weak self] result in
        guard let self else { return }
        let now = MonotonicInstant.now
        discovery.answered((try? result.get()) ?? nil, now: now)
        answered(now)
      }
  }

  /// `EAI_NODATA` and `EAI_ADDRFAMILY` of Linux, which Swift does not import.
  private static let namesWithoutAddress: Set<Int32> = [EAI_NONAME, -5, -9]

  /// Returns the IPv6 addresses of `ipv4only.arpa`, none if it has none, and nil if no server has answered. Blocks.
  static func addressesOfDiscoveryName() -> [IPAddress]? {
    let (status, addresses) = ICEServers.query(NAT64Prefix.discoveryName, family: AF_INET6, port: 0)
    if status == 0 { return addresses.map(\.ip) }
    return namesWithoutAddress.contains(status) ? [] : nil
  }
}
