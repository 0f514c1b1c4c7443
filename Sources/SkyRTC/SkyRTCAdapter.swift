internal import HTTPTransport
package import Logging
package import Signalling
package import SignallingAdapters

/// The rooms of SkyRTC servers, `ws://host:3000`.
package struct SkyRTCAdapter: SignallingAdapter {
  package let name = "SkyRTC"
  package let shortName = "SkyRTC"
  package let schemes = ["ws", "wss"]
  package let summary = "A WebSocket server that puts users into rooms; everyone is connected to everyone."
  package let example = "chatbot --server wss://calls.example:8443 --room 100 --record out/"
  package let uses = Set(SignallingUse.allCases)
  package let options: Set<SignallingOption> = [.room, .name]

  package init() {}

  package var defaultRoom: String? { ClientMessage.defaultRoom }

  package func capabilities(at address: SignallingAddress) -> SignallingCapabilities { SkyRTCClient.capabilities }

  package func server(ofPage text: String) -> (address: SignallingAddress, room: String?)? {
    RoomAddress(text).map { (SignallingAddress($0.webSocket), $0.room) }
  }

  package func probe(
    of address: SignallingAddress, environment: [String: String]
  ) throws(SignallingSettingsError) -> ServerProbe? {
    try .webSocket(at: address)
  }

  package func makeClient(
    _ settings: SignallingSettings, logger: Logger
  ) throws(SignallingSettingsError) -> any SignallingClient {
    var options = SkyRTCClient.Options()
    options.name = settings.displayName
    options.records = settings.records
    options.trust = settings.trust
    options.maximumParticipants = settings.maximumUsers
    do {
      return try SkyRTCClient(
        url: settings.address.url, room: settings.room ?? "", options: options, logger: logger)
    } catch {
      throw SignallingSettingsError(error.description)
    }
  }
}
