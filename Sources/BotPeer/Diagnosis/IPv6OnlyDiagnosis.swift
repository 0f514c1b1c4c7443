internal import ICE
internal import NIOCore
internal import NIOPosix

/// What a network without IPv4 offers for reaching IPv4.
public struct IPv6OnlyDiagnosis: Sendable, Hashable, Codable {
  /// The prefix of the NAT64, for example `64:ff9b::/96`; nil if there is none or it is not known.
  public var nat64Prefix: String?
  /// Why it is not known, as a sentence.
  public var failure: String?

  public init(nat64Prefix: String? = nil, failure: String? = nil) {
    self.nat64Prefix = nat64Prefix
    self.failure = failure
  }

  /// Looks up the prefix if none of these addresses is IPv4 (RFC 7050, 3).
  ///
  /// - Parameter limit: how long the resolver may take.
  /// - Returns: nil for a network with IPv4.
  static func find(
    _ addresses: [IPAddress], on loop: any EventLoop, within limit: Duration
  ) async -> (diagnosis: IPv6OnlyDiagnosis, prefix: NAT64Prefix?)? {
    guard NAT64Resolver.isNeeded(addresses) else { return nil }
    let promise = loop.makePromise(of: [IPAddress]?.self)
    let timer = loop.scheduleTask(in: TimeAmount(min(limit, NAT64Discovery.timeout))) { promise.succeed(nil) }
    NIOThreadPool.singleton.runIfActive(eventLoop: loop) { NAT64Resolver.addressesOfDiscoveryName() }
      .whenComplete { promise.succeed((try? $0.get()) ?? nil) }
    let answer = (try? await promise.futureResult.get()) ?? nil
    timer.cancel()
    guard let answer else {
      return (
        IPv6OnlyDiagnosis(failure: "The resolver has not answered for \(NAT64Prefix.discoveryName)."), nil
      )
    }
    let prefix = NAT64Prefix.found(in: answer).first
    return (IPv6OnlyDiagnosis(nat64Prefix: prefix?.description), prefix)
  }
}
