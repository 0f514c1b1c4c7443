import HTTPTransport
import NIOCore
import Signalling
import SkyRTC

/// A client of the server under test that sends and receives single messages of the protocol.
final class Participant {
  let socket: WebSocketClient
  /// The secret of the last `_peers`, with which to reclaim the id.
  private(set) var secret: String?
  private var messages: AsyncStream<WebSocketMessage>.Iterator

  private init(socket: WebSocketClient) {
    self.socket = socket
    messages = socket.messages.makeAsyncIterator()
  }

  static func connect(
    to address: SkyRTCServer.Address, options: WebSocketClient.Options = .init()
  ) async throws -> Participant {
    Participant(socket: try await WebSocketClient.connect(to: address.webSocketURL, options: options))
  }

  /// Joins a room and reads the `_peers`.
  static func joined(
    _ room: String, at address: SkyRTCServer.Address, profile: ParticipantProfile = ParticipantProfile()
  ) async throws -> (Participant, id: String) {
    let participant = try await connect(to: address)
    participant.send(.join(room: room, former: nil, profile: profile))
    guard case .peers(let you, _, _, _, _)? = try await participant.next() else { throw Surprise.noWelcome }
    return (participant, you)
  }

  enum Surprise: Error { case noWelcome, binary }

  func send(_ request: ClientMessage) { socket.send(.text(request.text)) }

  func send(text: String) { socket.send(.text(text)) }

  /// Returns the next message as JSON; nil at the end of the connection.
  func nextText() async throws -> String? {
    switch await messages.next(isolation: #isolation) {
    case .text(let text): return text
    case .binary: throw Surprise.binary
    case nil: return nil
    }
  }

  /// Returns the next message, without the secret of a `_peers`.
  func next() async throws -> ServerMessage? {
    let message = try await nextText().map { try ServerMessage(parsing: $0) }
    guard case .peers(let you, let others, let secret, let iceServers, let profiles) = message else { return message }
    self.secret = secret
    return .peers(you: you, others: others, iceServers: iceServers, profiles: profiles)
  }

  func close() async {
    socket.close()
    _ = await socket.ended()
  }
}

/// Starts a server on a free port, and stops it at the end.
func withServer(
  host: String = "127.0.0.1", limits: SkyRTCServer.Limits = .init(), tls: SkyRTCServer.TLS? = nil,
  iceServers: [ICEServer] = [],
  _ body: (SkyRTCServer, SkyRTCServer.Address) async throws -> Void
) async throws {
  var configuration = SkyRTCServer.Configuration(host: host, port: 0, tls: tls)
  configuration.limits = limits
  configuration.iceServers = iceServers
  let server = SkyRTCServer(configuration: configuration, logger: .quiet)
  let address = try await server.start()
  do {
    try await body(server, address)
  } catch {
    await server.shutdown()
    throw error
  }
  await server.shutdown()
}

extension RelayedMessage {
  /// Returns a signal that is easy to distinguish from others.
  static func mark(_ text: String) -> RelayedMessage { .offer(SignalledDescription(type: "offer", sdp: text)) }
}
