internal import HTTPTransport
package import Logging
package import Signalling
package import SignallingAdapters

/// The rooms of the VideoRoom plugin of Janus servers, `janus+ws://host:8188`.
package struct JanusAdapter: SignallingAdapter {
  package let name = "Janus VideoRoom"
  package let shortName = "Janus"
  package let schemes = ["janus+ws", "janus+wss"]
  package let summary = "The VideoRoom plugin of a Janus server: each publisher is a user."
  package let example = "chatbot --server janus+wss://janus.example:8989 --room 1234 --name bot --record out/"
  package let uses: Set<SignallingUse> = [.record, .play, .check, .load]
  package let options: Set<SignallingOption> = [.room, .name, .token, .pin, .apiSecret, .roomToken]

  package init() {}

  package func capabilities(at address: SignallingAddress) -> SignallingCapabilities { JanusClient.capabilities }

  package func probe(
    of address: SignallingAddress, environment: [String: String]
  ) throws(SignallingSettingsError) -> ServerProbe? {
    try .webSocket(at: address, subprotocol: "janus-protocol")
  }

  package func makeClient(
    _ settings: SignallingSettings, logger: Logger
  ) throws(SignallingSettingsError) -> any SignallingClient {
    guard let room = settings.room else {
      throw SignallingSettingsError("A Janus server needs --room, the id of a room.")
    }
    var options = JanusClient.Options(room: JanusID(room))
    options.trust = settings.trust
    options.displayName = settings.displayName
    options.publishes = settings.sends
    options.receives = settings.receives
    if let first = settings.audioCodecs?.first { options.audioCodec = first }
    if let first = settings.videoCodecs?.first { options.videoCodec = first }
    options.maximumParticipants = settings.maximumUsers
    options.token = settings.token
    options.pin = settings.pin
    options.apiSecret = settings.apiSecret
    options.roomToken = settings.roomToken
    do {
      let address = try JanusAddress(settings.address.url)
      options.videoLayer = (address.substream, address.temporal)
      return JanusClient(url: address.url, options: options, logger: logger)
    } catch {
      throw SignallingSettingsError(error.description)
    }
  }
}
