package import Logging
package import Signalling

/// A signalling system as a program offers it: what it is called, how it is addressed, what can be done there, and how a
/// client is made. Each system has one beside its client, so that a program needs a list of adapters and no knowledge of a
/// system.
///
/// ```swift
/// let adapters: [any SignallingAdapter] = [SkyRTCAdapter(), JanusAdapter()]
/// let adapter = adapters.first { $0.accepts(settings.address) }
/// let client = try adapter?.makeClient(settings, logger: logger)
/// ```
package protocol SignallingAdapter: Sendable {
  /// The system's name, such as `Janus VideoRoom`.
  var name: String { get }
  /// The word for the system or its servers in a sentence, such as `Janus`.
  var shortName: String { get }
  /// The URL schemes, in lower case; the secure one is last. No other system has them.
  var schemes: [String] { get }
  /// One sentence about the system.
  var summary: String { get }
  /// A command line of `chatbot` that joins a call.
  var example: String { get }
  /// What is possible; a server that only receives cannot be recorded.
  var uses: Set<SignallingUse> { get }
  /// The settings, apart from the address, that the system understands. It ignores others.
  var options: Set<SignallingOption> { get }
  /// The name of the room that is joined if none is named; nil if there is none, or the address names it.
  var defaultRoom: String? { get }
  /// Whether the address is a URL, with `://` behind the scheme. If not, any text follows the scheme and a colon:
  /// `SignallingAddress.opaque`.
  var addressIsURL: Bool { get }
  /// Whether an address that is a URL must name the host of a server. If not, it names something within a service.
  var addressNamesHost: Bool { get }

  /// The server of a call page, and the room that the address of the page names; nil if a text is not the address of a page of the
  /// system.
  func server(ofPage text: String) -> (address: SignallingAddress, room: String?)?

  /// What can be done in a call at an address, before there is a client: that has the same
  /// ``SignallingClient/capabilities``, unless the other side says more when the client connects.
  func capabilities(at address: SignallingAddress) -> SignallingCapabilities

  /// The host of the server, a name or an address, IPv6 without brackets; nil if the host is not the user's choice. If it is on this
  /// machine or in a private network, such addresses of users are tried too.
  ///
  /// - Parameter environment: the environment variables of the process.
  func host(of address: SignallingAddress, environment: [String: String]) -> String?

  /// What may be shown of an address, in sentences and reports: no secret.
  func shownAddress(_ address: SignallingAddress) -> String

  /// Whether other participants of a call at the address may be on this machine, so that its loopback addresses are offered too.
  ///
  /// - Parameter environment: the environment variables of the process.
  func offersLoopback(at address: SignallingAddress, environment: [String: String]) -> Bool

  /// Where a use is possible that the system does not allow, as a sentence without secrets; nil if that is not known.
  func alternative(to address: SignallingAddress, for use: SignallingUse) -> String?

  /// What a server at the address responds to, without a call; nil if the system has no server that can be measured.
  func probe(
    of address: SignallingAddress, environment: [String: String]
  ) throws(SignallingSettingsError) -> ServerProbe?

  /// Makes a client that is not connected yet.
  ///
  /// - Parameter logger: logs ignored messages and what the server rejects.
  /// - Throws: one sentence if a setting is missing or invalid.
  func makeClient(
    _ settings: SignallingSettings, logger: Logger
  ) throws(SignallingSettingsError) -> any SignallingClient
}

extension SignallingAdapter {
  package var defaultRoom: String? { nil }
  package var addressIsURL: Bool { true }
  package var addressNamesHost: Bool { true }

  package func server(ofPage text: String) -> (address: SignallingAddress, room: String?)? { nil }

  package func host(of address: SignallingAddress, environment: [String: String]) -> String? { address.host }

  package func shownAddress(_ address: SignallingAddress) -> String { address.withoutSecrets }

  /// Whether the host of the server is a name or an address of this machine.
  package func offersLoopback(at address: SignallingAddress, environment: [String: String]) -> Bool {
    host(of: address, environment: environment).map(Self.loopbackHosts.contains) ?? false
  }

  package func alternative(to address: SignallingAddress, for use: SignallingUse) -> String? { nil }

  package func probe(
    of address: SignallingAddress, environment: [String: String]
  ) throws(SignallingSettingsError) -> ServerProbe? { nil }

  /// Host names that always mean this machine.
  private static var loopbackHosts: Set<String> { ["localhost", "127.0.0.1", "::1"] }

  /// What addresses begin with: `ws://` and `wss://`.
  package var addressPrefixes: [String] { schemes.map { addressIsURL ? "\($0)://" : "\($0):" } }

  /// Whether the address has one of the system's schemes.
  package func accepts(_ address: SignallingAddress) -> Bool {
    let start = address.description.prefix(32).lowercased()
    return addressPrefixes.contains { start.hasPrefix($0) }
  }
}

/// What a program can do in a call.
package enum SignallingUse: String, CaseIterable, Sendable {
  case record, play, loopback, check, load
}

/// A setting of ``SignallingSettings`` that only some systems understand.
package enum SignallingOption: CaseIterable, Sendable {
  /// The room, ``SignallingSettings/room``.
  case room
  /// The name by which other users know us, ``SignallingSettings/user``.
  case user
  /// Our name for people, ``SignallingSettings/name``.
  case name
  /// The users to call, ``SignallingSettings/callees``.
  case callees
  /// The server's token, ``SignallingSettings/token``.
  case token
  /// The file of a service account, ``SignallingSettings/serviceAccountFile``.
  case serviceAccount
  /// The room's PIN, ``SignallingSettings/pin``.
  case pin
  /// The server's API secret, ``SignallingSettings/apiSecret``.
  case apiSecret
  /// Our token for the room, ``SignallingSettings/roomToken``.
  case roomToken
  /// Redirects to other origins, ``SignallingSettings/followsOtherOrigins``.
  case redirects
}
