internal import HTTPTransport
package import Logging
package import Signalling
package import SignallingAdapters

/// Media servers that are published to with WHIP, `whip+https://host/whip/1`, or played from with WHEP,
/// `whep+https://host/whep/1`.
package struct WHIPAdapter: SignallingAdapter {
  private let role: WHIPClient.Role

  package init(_ role: WHIPClient.Role) {
    self.role = role
  }

  package var name: String { role.description }
  package var shortName: String { name }

  package var schemes: [String] {
    switch role {
    case .publisher: ["whip+http", "whip+https"]
    case .player: ["whep+http", "whep+https"]
    }
  }

  package var summary: String {
    switch role {
    case .publisher: "Publishes to a media server over HTTP (RFC 9725)."
    case .player: "Plays from a media server over HTTP (draft-ietf-wish-whep)."
    }
  }

  package var example: String {
    switch role {
    case .publisher: "chatbot --server whip+https://media.example/whip/room --token-file token --play pattern"
    case .player: "chatbot --server whep+https://media.example/whep/room --token-file token --record out/"
    }
  }

  package var uses: Set<SignallingUse> {
    switch role {
    case .publisher: [.play, .load]
    case .player: [.record, .check, .load]
    }
  }

  package var options: Set<SignallingOption> { [.token, .redirects] }

  package func capabilities(at address: SignallingAddress) -> SignallingCapabilities { WHIPClient.capabilities }

  /// The endpoint of the other protocol, if the path names the protocol as that of `chatbot serve` does: `/whip/ROOM` and
  /// `/whep/ROOM`.
  package func alternative(to address: SignallingAddress, for use: SignallingUse) -> String? {
    let other = WHIPAdapter(role == .publisher ? .player : .publisher)
    guard other.uses.contains(use), !uses.contains(use) else { return nil }
    let (own, replacement) = role == .publisher ? ("whip", "whep") : ("whep", "whip")
    var parts = address.withoutSecrets.split(separator: "/", omittingEmptySubsequences: false)
    guard let scheme = address.scheme, let place = parts.lastIndex(of: Substring(own)), place > 2 else { return nil }
    parts[0] = "\(replacement)\(scheme.dropFirst(own.count)):"
    parts[place] = Substring(replacement)
    return "\(other.name) \(role == .publisher ? "receives" : "publishes"): \(parts.joined(separator: "/"))"
  }

  package func probe(
    of address: SignallingAddress, environment: [String: String]
  ) throws(SignallingSettingsError) -> ServerProbe? {
    try .http(at: address)
  }

  package func makeClient(
    _ settings: SignallingSettings, logger: Logger
  ) throws(SignallingSettingsError) -> any SignallingClient {
    var options = WHIPClient.Options()
    options.trust = settings.trust
    options.followsOtherOrigins = settings.followsOtherOrigins
    options.waitsForStream = role == .player && settings.waitsForStream
    if let token = settings.token {
      do {
        options.token = try BearerToken(token)
      } catch {
        throw SignallingSettingsError(error.description)
      }
    }
    return WHIPClient(role, url: try settings.address.httpURL(), options: options, logger: logger)
  }
}
