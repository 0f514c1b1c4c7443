import BotPeer
import FoundationEssentials
import HTTPTransport

extension RoomServerAddress {
  /// The host of the documents of Firestore, and the variable that names an emulator instead.
  private static let firestore = "https://firestore.googleapis.com/"
  private static let emulator = "FIRESTORE_EMULATOR_HOST"

  /// Reads the value of `--server`.
  init(server: String) throws(CallFailure) {
    let plain = server.firstIndex(of: "+").map { String(server[server.index(after: $0)...]) } ?? server
    do {
      switch SignallingSystem(address: server) {
      case .skyRTC: self.init(try WebSocketURL(server), protocol: nil)
      case .janus: self.init(try WebSocketURL(plain), protocol: "janus-protocol")
      // Another method would begin a session.
      case .socketIO: self.init(try HTTPURL(plain), method: "OPTIONS")
      case .whip, .whep: self.init(try HTTPURL(plain), method: "OPTIONS")
      case .firestore:
        let host = ProcessInfo.processInfo.environment[Self.emulator]
        self.init(try HTTPURL(host.map { "http://\($0)/" } ?? Self.firestore), method: "GET")
      case nil: throw CallFailure(.usage, "No signalling system has the address \(server); see chatbot signallings.")
      }
    } catch let failure as CallFailure {
      throw failure
    } catch {
      throw CallFailure(.usage, "\(error)")
    }
  }

  private init(_ url: WebSocketURL, protocol name: String?) {
    self.init(
      host: url.host, port: url.port, isSecure: url.isSecure, authority: url.authority, target: url.target,
      isWebSocket: true, webSocketProtocol: name, shown: "\(url.isSecure ? "wss" : "ws")://\(url.authority)")
  }

  private init(_ url: HTTPURL, method: String) {
    self.init(
      host: url.host, port: url.port, isSecure: url.isSecure, authority: url.authority, target: url.path,
      method: method, isWebSocket: false, shown: "\(url.isSecure ? "https" : "http")://\(url.authority)")
  }
}
