internal import HTTPTransport
import Media
import NIOCore
internal import Signalling

/// Opens connections to a Socket.IO server: a WebSocket of revision 4, else of revision 3, else long polling.
struct EngineIOConnector: Sendable {
  /// A way to connect.
  enum Way: Sendable, Hashable {
    case webSocket(EngineIOGeneration)
    case polling(EngineIOGeneration)
  }

  static let ways: [Way] = [.webSocket(.four), .webSocket(.three), .polling(.four), .polling(.three)]

  let url: HTTPURL
  let webSocket: WebSocketClient.Options
  let http: HTTPClient
  let connectTimeout: Duration
  let closeTimeout: Duration
  let group: any EventLoopGroup

  /// Tries the ways in order, as long as the server refuses them. A server that cannot be reached is not tried again.
  ///
  /// - Parameter preferred: the way of the last connection, tried first.
  func connect(
    preferring preferred: Way?
  ) async throws(SignallingConnectError) -> (transport: any EngineIOTransport, way: Way) {
    var refusal = SignallingConnectError.rejected("The server offers no transport.")
    for way in (preferred.map { [$0] } ?? []) + Self.ways.filter({ $0 != preferred }) {
      do throws(Failure) {
        return (try await open(way), way)
      } catch {
        switch error {
        case .final(let error): throw error
        case .refused(let error): refusal = error
        }
      }
    }
    throw refusal
  }

  private enum Failure: Error {
    /// Another way may work.
    case refused(SignallingConnectError)
    case final(SignallingConnectError)
  }

  private func open(_ way: Way) async throws(Failure) -> any EngineIOTransport {
    switch way {
    case .webSocket(let generation):
      let address = "\(url.isSecure ? "wss" : "ws")://\(url.authority)\(target(of: way))"
      let target: WebSocketURL
      do { target = try WebSocketURL(address) } catch {
        throw .final(.invalidConfiguration("\(url.description.withoutQueries) is no address of a Socket.IO server."))
      }
      do throws(WebSocketConnectError) {
        let socket = try await WebSocketClient.connect(to: target, options: webSocket, on: group)
        return WebSocketTransport(socket, generation: generation == .three ? .three : nil)
      } catch {
        let wrapped = SignallingConnectError(error).withoutQueries
        switch error {
        case .refused(_, let status, _) where status == 401 || status == 403: throw .final(wrapped)
        case .refused, .notAWebSocket: throw .refused(wrapped)
        case .unreachable, .notTrusted, .noCertificates, .timedOut: throw .final(wrapped)
        }
      }
    case .polling:
      var address = url
      address.target = target(of: way)
      do throws(PollingError) {
        return try await PollingTransport.open(
          address, client: http, timeout: connectTimeout, closeTimeout: closeTimeout)
      } catch {
        switch error {
        case .http(let inner): throw .final(SignallingConnectError(inner).withoutQueries)
        case .refused(_, let status, _) where status == 401 || status == 403:
          throw .final(.unauthorized(error.description))
        case .refused(_, let status, _) where status >= 500: throw .refused(.unreachable(error.description))
        case .refused, .invalid: throw .refused(.rejected(error.description))
        }
      }
    }
  }

  /// The path and query of a way. An address without a path has the usual one, `/socket.io/`.
  func target(of way: Way) -> String {
    let path = url.path
    let query = url.target.dropFirst(path.count)
    let parameters =
      switch way {
      case .webSocket(let generation): "EIO=\(generation.rawValue)&transport=websocket"
      // Packets of revision 3 come in a binary format unless the client asks for text.
      case .polling(.three): "EIO=3&transport=polling&b64=1"
      case .polling(.four): "EIO=4&transport=polling"
      }
    return (path == "/" ? "/socket.io/" : path) + (query.isEmpty ? "?" : "\(query)&") + parameters
  }
}

extension SignallingConnectError {
  fileprivate var withoutQueries: SignallingConnectError {
    switch self {
    case .unreachable(let text): .unreachable(text.withoutQueries)
    case .rejected(let text): .rejected(text.withoutQueries)
    case .unauthorized(let text): .unauthorized(text.withoutQueries)
    case .invalidConfiguration(let text): .invalidConfiguration(text.withoutQueries)
    }
  }
}
