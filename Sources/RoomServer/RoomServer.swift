public import Logging
public import NIOCore
public import NIOPosix
public import SkyRTC

/// A room server with its call page, and with WHIP and WHEP, on one port.
///
/// Participants of a room connect to each other. A publisher of WHIP becomes a participant of a room, and a player of WHEP receives
/// one: frames are forwarded as they arrive, without decoding, and each recipient has its own connection, congestion control and
/// retransmissions.
///
/// ```swift
/// var settings = RoomServer.Settings(rooms: SkyRTCServer.Configuration(host: "0.0.0.0", port: 3000))
/// settings.gateway?.tokens = [try BearerToken("s3cret")]
/// let server = RoomServer(settings)
/// let addresses = try await server.start()
/// print("Open \(addresses.pageURL)#100, or publish to \(addresses.whipURL ?? "")100.")
/// try await server.run()  // until the task is cancelled, or stop() is called
/// ```
public actor RoomServer {
  public nonisolated let settings: Settings
  private let loop: any EventLoop
  private let log: Logger
  private var state = State.new
  private var starting: Task<Result<Addresses, StartError>, Never>?
  private var closing: Task<Void, Never>?
  /// Finished when the server stops.
  private let (stopped, stopping) = AsyncStream<Void>.makeStream()

  private enum State {
    case new
    case starting
    case started(Parts)
    case stopped
  }

  private struct Parts: Sendable {
    var rooms: SkyRTCServer
    var gateway: WHIPGateway?

    func close() async {
      await gateway?.close()
      await rooms.shutdown()
    }
  }

  /// Creates a server that does not listen yet.
  ///
  /// - Parameters:
  ///   - loop: receives and forwards the media of WHIP and WHEP. A loop whose thread does nothing else measures the arrival of
  ///     packets best.
  ///   - log: logs participants that join or leave at `info`, clients that are refused as warnings.
  public init(
    _ settings: Settings = Settings(), on loop: any EventLoop = MultiThreadedEventLoopGroup.singleton.any(),
    log: Logger = Logger(label: "server")
  ) {
    self.settings = settings
    self.loop = loop
    self.log = log
  }

  /// Binds the port and serves from then on. After an error it may be called again.
  ///
  /// - Returns: the addresses for clients, with the port actually bound.
  @discardableResult
  public func start() async throws(StartError) -> Addresses {
    guard case .new = state else { throw .rooms(.alreadyStarted) }
    state = .starting
    let attempt = Task { await tryToStart() }
    starting = attempt
    return try await attempt.value.get()
  }

  private func tryToStart() async -> Result<Addresses, StartError> {
    do throws(StartError) {
      let (parts, address) = try await open()
      guard case .starting = state else {
        await parts.close()
        return .failure(.stopped)
      }
      state = .started(parts)
      return .success(Addresses(address, hasGateway: parts.gateway != nil))
    } catch {
      if case .starting = state { state = .new }
      return .failure(error)
    }
  }

  private func open() async throws(StartError) -> (Parts, SkyRTCServer.Address) {
    let gateway = try await openGateway()
    let rooms = SkyRTCServer(
      configuration: settings.rooms, responder: gateway, iceServers: { [settings] in settings.iceServers(for: "room") },
      logger: log)
    do {
      let address = try await rooms.start()
      await gateway?.open(RoomAccess(port: address.port, settings: settings, on: loop))
      return (Parts(rooms: rooms, gateway: gateway), address)
    } catch {
      await gateway?.close()
      throw .rooms(error)
    }
  }

  private func openGateway() async throws(StartError) -> WHIPGateway? {
    guard let gateway = settings.gateway else { return nil }
    do {
      return try await WHIPGateway.start(
        options: settings.whipOptions(gateway), configuration: settings.gatewayConfiguration(gateway), on: loop,
        log: log)
    } catch {
      throw .gateway(reason: "\(error)")
    }
  }

  /// What the server serves now; nothing before it has started, and after its end.
  package func figures() async -> Figures {
    guard case .started(let parts) = state else { return Figures() }
    let (rooms, users, connections) = await parts.rooms.figures()
    return Figures(rooms: rooms, users: users, connections: connections, gateway: await parts.gateway?.figures())
  }

  /// Serves until ``stop()`` is called or the task is cancelled, and returns when all connections are closed. Starts the server
  /// first, unless that has been done or is being done; then it throws what that throws.
  public func run() async throws(StartError) {
    do throws(StartError) {
      if case .new = state {
        try await start()
      } else if case .starting = state {
        _ = try await starting?.value.get()
      }
    } catch .stopped {
      return
    }
    for await _ in stopped {}
    await stop()
  }

  /// Ends the sessions of WHIP and WHEP, closes all WebSockets and returns when all connections are closed. A server that has
  /// stopped cannot be started again. A ``start()`` that has not returned closes what it opened, and throws.
  public func stop() async {
    if case .started(let parts) = state { closing = Task { await parts.close() } }
    state = .stopped
    stopping.finish()
    _ = await starting?.value
    await closing?.value
  }
}

extension RoomServer {
  /// The addresses of a started server, for clients.
  public struct Addresses: Sendable, Hashable {
    /// The TCP port.
    public let port: Int
    /// For clients of SkyRTC, for example `ws://127.0.0.1:3000`.
    public let webSocketURL: String
    /// For browsers, for example `http://localhost:3000/`. A room is added as a fragment: `#100`.
    public let pageURL: String
    /// Where WHIP publishes, for example `http://localhost:3000/whip/`, to which the name of a room is added; nil without the gateway.
    public let whipURL: String?
    /// Where WHEP plays, likewise.
    public let whepURL: String?

    init(_ address: SkyRTCServer.Address, hasGateway: Bool) {
      port = address.port
      webSocketURL = address.webSocketURL
      pageURL = address.pageURL
      whipURL = hasGateway ? "\(address.pageURL)whip/" : nil
      whepURL = hasGateway ? "\(address.pageURL)whep/" : nil
    }
  }

  /// Why the server could not be started; the description is one sentence.
  public enum StartError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The port or the TLS files cannot be used, or the server has been started before.
    case rooms(SkyRTCServer.StartError)
    /// The sockets or the ICE servers of the gateway cannot be used.
    case gateway(reason: String)
    /// ``stop()`` was called meanwhile.
    case stopped

    public var description: String {
      switch self {
      case .rooms(let error): error.description
      case .gateway(let reason): reason
      case .stopped: "The server was stopped while it was starting."
      }
    }
  }
}
