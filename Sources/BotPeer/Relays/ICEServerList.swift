internal import Glibc
public import Signalling

/// STUN and TURN servers with credentials, or with the secret from which credentials are made that are valid for a limited time
/// (draft-uberti-behave-turn-rest-00).
public struct ICEServerList: Sendable {
  private let servers: [ICEServer]
  private let secret: String?
  private let lifetime: Duration

  /// Servers with credentials that do not expire.
  public init(_ servers: [ICEServer]) {
    self.servers = servers
    secret = nil
    lifetime = .zero
  }

  /// Servers that share a secret with us.
  ///
  /// - Parameter lifetime: how long credentials that are made from the secret are valid.
  public init(_ servers: [ICEServer], secret: String, lifetime: Duration) {
    self.servers = servers
    self.secret = secret
    self.lifetime = lifetime
  }

  /// How often credentials are renewed: when three quarters of their lifetime have passed. Nil if they do not expire.
  public var renewalInterval: Duration? { secret == nil ? nil : lifetime * 3 / 4 }

  /// The servers with credentials that are valid from now.
  ///
  /// - Parameter name: who will use them, for the log of a TURN server.
  public func servers(for name: String) -> [ICEServer] {
    guard let secret else { return servers }
    let expiry = Int64(time(nil)) + lifetime.components.seconds
    return servers.map { server in
      server.needsCredentials
        ? server.withTimeLimitedCredentials(secret: secret, name: name, expiry: expiry) : server
    }
  }
}

extension Peer.Configuration {
  /// Uses the servers, and renews their credentials.
  public mutating func use(_ list: ICEServerList, for name: String) {
    iceServers = list.servers(for: name)
    iceServerRenewal = list.renewalInterval.map { .init(interval: $0) { list.servers(for: name) } }
  }
}
