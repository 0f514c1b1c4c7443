internal import Synchronization

/// The names under which this program hides its own addresses: a random UUID and `.local` for each
/// (draft-ietf-mmusic-mdns-ice-candidates, 3.1.1). They last as long as the object.
package final class HostNames: Sendable {
  private struct Names {
    var byAddress: [IPAddress: MDNSName] = [:]
    var byName: [MDNSName: IPAddress] = [:]
    /// Random foundations, by those that are computed from addresses.
    var foundations: [String: String] = [:]
    var generator: any RandomNumberGenerator & Sendable
  }

  private let names: Mutex<Names>

  /// More than a machine has addresses; beyond that the oldest names would never be freed.
  static let maximumNames = 256
  private static let maximumFoundations = 1_024

  /// - Parameter generator: must be unpredictable outside tests.
  package init(generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()) {
    names = Mutex(Names(generator: generator))
  }

  /// Returns the name of an address, and makes one at the first call; nil for the 257th address.
  package func name(of address: IPAddress) -> MDNSName? {
    names.withLock { names in
      if let known = names.byAddress[address] { return known }
      guard names.byAddress.count < Self.maximumNames, let name = MDNSName(randomUsing: &names.generator) else {
        return nil
      }
      names.byAddress[address] = name
      names.byName[name] = address
      return name
    }
  }

  /// Returns a random foundation, the same for the same argument: the addresses could be found out from a computed one. The
  /// last 1,024 at most are known.
  private func foundation(for computed: String) -> String {
    names.withLock { names in
      if let known = names.foundations[computed] { return known }
      if names.foundations.count >= Self.maximumFoundations { names.foundations = [:] }
      let random = String(UInt32(truncatingIfNeeded: names.generator.next()))
      names.foundations[computed] = random
      return random
    }
  }

  /// Returns the address that a name stands for.
  package func address(of name: MDNSName) -> IPAddress? { names.withLock { $0.byName[name] } }

  /// Returns a candidate as it is signalled: with a name instead of a host address, without the related address of
  /// others, which is one of this machine (draft-ietf-mmusic-mdns-ice-candidates, 3.1.2), and with another foundation. Nil
  /// for a host address that has no name: it is not signalled.
  package func hide(_ candidate: ICECandidate) -> ICECandidate? {
    var hidden = candidate
    hidden.foundation = foundation(for: candidate.foundation)
    switch candidate.type {
    case .host:
      guard case .address(let address) = candidate.host, !address.isLoopback, let name = name(of: address) else {
        return nil
      }
      hidden.host = .name(name.description)
    case .serverReflexive, .peerReflexive, .relayed:
      hidden = hidden.withoutRelatedAddress
    }
    return hidden
  }
}
