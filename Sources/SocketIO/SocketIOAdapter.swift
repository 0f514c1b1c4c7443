internal import HTTPTransport
package import Logging
package import Signalling
package import SignallingAdapters

/// The calls of socket.io servers, `socketio+http://host:9012`.
package struct SocketIOAdapter: SignallingAdapter {
  package let name = "socket.io calls"
  package let shortName = "socket.io"
  package let schemes = ["socketio+http", "socketio+https"]
  package let summary = "A socket.io server on which users call each other by name."
  package let example =
    "chatbot --server socketio+https://calls.example:9012 --user bot --call 111111 --record out/"
  package let uses = Set(SignallingUse.allCases)
  package let options: Set<SignallingOption> = [.user, .callees]

  package init() {}

  package func capabilities(at address: SignallingAddress) -> SignallingCapabilities { SocketIOClient.capabilities }

  package func probe(
    of address: SignallingAddress, environment: [String: String]
  ) throws(SignallingSettingsError) -> ServerProbe? {
    try .http(at: address)
  }

  package func makeClient(
    _ settings: SignallingSettings, logger: Logger
  ) throws(SignallingSettingsError) -> any SignallingClient {
    guard let user = settings.user else {
      throw SignallingSettingsError("A socket.io server needs --user, the name to log in with.")
    }
    var options = SocketIOClient.Options()
    options.trust = settings.trust
    options.maximumCalls = settings.maximumUsers
    return SocketIOClient(
      url: try settings.address.httpURL(), userName: user + settings.suffix, calls: settings.callees, options: options,
      logger: logger)
  }
}
