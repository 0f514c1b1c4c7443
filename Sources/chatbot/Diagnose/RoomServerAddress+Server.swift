import BotPeer
import FoundationEssentials
import HTTPTransport
import SignallingAdapters

extension RoomServerAddress {
  /// Reads the value of `--server`.
  init(server: String) throws(CallFailure) {
    let adapter = try SignallingSystems.supported.known(of: server)
    let probe: ServerProbe?
    do throws(SignallingSettingsError) {
      probe = try adapter.probe(
        of: SignallingSystems.supported.address(of: server).address, environment: ProcessInfo.processInfo.environment)
    } catch {
      throw CallFailure(.usage, error.description)
    }
    switch probe {
    case .webSocket(let url, let name): self.init(url, protocol: name)
    case .http(let url, let method): self.init(url, method: method)
    case nil: throw CallFailure(.usage, "\(adapter.shortName) has no server that can be measured.")
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
