public import HTTPTransport
public import Logging
public import Media
public import NIOCore
public import NIOPosix
public import Signalling
import Synchronization

/// A participant's connection to a SkyRTC server. It joins one room and reconnects whenever the connection is lost.
///
/// ```
///            connect()                 `_peers`
///   new ───────────────► connecting ─────────────► joined
///                             ▲                      │ the connection ends
///                             └──── waiting ◄────────┘
///                              0.5 to 30 s, jittered
/// ```
/// `leave()` ends it in every state. One reader receives `events`.
public final class SkyRTCClient: SignallingClient {
  /// The events, in order, until `leave()`. At most `Options.maximumWaitingEvents` wait for the reader.
  public let events: SignallingEvents
  public let url: WebSocketURL
  public let room: String

  private let options: Options
  private let logger: Logger
  private let group: any EventLoopGroup
  private let inbox: SignallingEventBuffer
  private let reconnection: ReconnectingSession
  /// Guarded by a lock because `send` is called from any thread and must keep the order of its calls.
  private let connection = Mutex(Connection())
  /// For messages of the server that are ignored: a server that sends nothing else must not fill the log.
  private let warnings = Mutex(LogRateLimiter(perSecond: 1, burst: 20))

  private struct Connection {
    var socket: WebSocketClient?
    var isJoined = false
    var isClosed = false
    /// Whether the server lets us have our id again.
    var keepsID = false
    var task: Task<Void, Never>?
  }

  public var capabilities: SignallingCapabilities { Self.capabilities }

  /// What can be done in every room.
  static let capabilities: SignallingCapabilities = {
    var capabilities = SignallingCapabilities()
    // Pages create the channel with the label `undefined`, which a browser turns into this text.
    capabilities.dataChannels = .init(labels: ["undefined"])
    capabilities.announcesLostParticipants = true
    capabilities.namesUsers = true
    return capabilities
  }()

  /// Creates a client that is not connected yet.
  ///
  /// - Parameters:
  ///   - url: the server's address, for example `ws://localhost:3000`.
  ///   - room: the room's name; an empty name selects the server's default room.
  ///   - options: timeouts, limits and the certificates to trust.
  ///   - logger: logs ignored messages and signals that could not be sent.
  ///   - group: one of its event loops serves each connection.
  public init(
    url: String, room: String, options: Options = Options(), logger: Logger = Logger(label: "skyrtc.client"),
    on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
  ) throws(WebSocketURL.ParseError) {
    self.url = try WebSocketURL(url)
    self.room = room
    self.options = options
    self.logger = logger
    self.group = group
    (events, inbox) = SignallingEventBuffer.make(limit: options.maximumWaitingEvents)
    reconnection = ReconnectingSession(
      .init(
        minimumDelay: options.minimumRetryDelay, maximumDelay: options.maximumRetryDelay,
        resetAge: options.backoffResetAge)
    ) { try? await group.any().sleep(for: $0) }
  }

  deinit {
    inbox.finish()
  }

  // MARK: Calls of the owner

  /// Connects for the first time and joins the room; the first event is `joined`, after any `iceServers`. From then on the
  /// client reconnects by itself when the connection is lost.
  ///
  /// - Throws: if the server cannot be reached. The client does not retry then, and `connect` may be called again.
  public func connect() async throws(SignallingConnectError) {
    let socket: WebSocketClient
    do throws(WebSocketConnectError) {
      socket = try await WebSocketClient.connect(to: url, options: options.webSocket, on: group)
    } catch {
      throw SignallingConnectError(error)
    }
    let isWanted = connection.withLock { connection in
      if connection.isClosed || connection.task != nil { return false }
      connection.task = Task { await self.stayJoined(from: socket) }
      return true
    }
    if !isWanted { socket.close() }
  }

  /// Sends a message to another participant. It is discarded if we are not joined or the participant has left, as the
  /// protocol discards it too.
  public func send(_ message: SignallingMessage, to participant: ParticipantID) {
    let id = participant.text
    let signal: RelayedMessage =
      switch message {
      case .offer(let sdp): .offer(SignalledDescription(type: "offer", sdp: sdp))
      case .answer(let sdp): .answer(SignalledDescription(type: "answer", sdp: sdp))
      case .candidate(let candidate): .candidate(candidate)
      }
    connection.withLock { connection in
      guard connection.isJoined, let socket = connection.socket else {
        logger.debug("A signal is discarded, because no server is connected.", metadata: ["user": "\(id)"])
        return
      }
      socket.send(.text(ClientMessage.signal(signal, to: id).text))
    }
  }

  /// Sends a ping, and reconnects if nothing arrives for `Options.pingTimeout`. If the local address of the connection has gone
  /// or its interface is down, and the server lets us have our id again, it reconnects at once. A wait before an attempt to
  /// reconnect is shortened to `Options.minimumRetryDelay`.
  public func verifyConnection() {
    let (socket, keepsID) = connection.withLock { ($0.socket, $0.keepsID) }
    guard let socket else { return reconnection.shortenWait() }
    if keepsID, !socket.hasLocalAddress {
      socket.abandon(because: "The local address has gone, or its interface is down.")
    } else {
      socket.verify()
    }
  }

  /// Leaves the room, ends `events` and returns when the connection is closed, after `Options.closeTimeout` at the
  /// latest.
  public func leave() async {
    let (socket, task) = connection.withLock { connection in
      connection.isClosed = true
      connection.isJoined = false
      return (connection.socket, connection.task)
    }
    reconnection.leave()
    inbox.finish()
    socket?.close(code: 1000, reason: "")
    if let socket { _ = await socket.ended() }
    task?.cancel()
  }

  // MARK: Staying joined

  /// Uses the first connection and opens further ones until the owner leaves. Each join requests the identity of the last one.
  private func stayJoined(from first: WebSocketClient) async {
    var former: ClientMessage.FormerIdentity?
    await reconnection.run(
      from: first,
      connect: { () async throws(ReconnectionState.ConnectionEnd) -> WebSocketClient in
        do throws(WebSocketConnectError) {
          return try await WebSocketClient.connect(to: url, options: options.webSocket, on: group)
        } catch {
          throw .lost(reason: error.description)
        }
      },
      follow: { socket in .lost(reason: await stayJoined(on: socket, former: &former).description) },
      deliver: { event in await inbox.deliver(event) })
    inbox.finish()
  }

  /// Joins the room on a new connection and delivers the events until the connection ends.
  ///
  /// - Parameter former: the identity of the last connection, which the join requests again; replaced by that of this
  ///   one.
  private func stayJoined(
    on socket: WebSocketClient, former: inout ClientMessage.FormerIdentity?
  ) async -> WebSocketCloseReason {
    let isWanted = connection.withLock { connection in
      if !connection.isClosed { connection.socket = socket }
      return !connection.isClosed
    }
    defer {
      connection.withLock { connection in
        connection.socket = nil
        connection.isJoined = false
      }
    }
    guard isWanted else {
      socket.close()
      return await socket.ended()
    }
    socket.send(.text(ClientMessage.join(room: room, former: former, profile: options.profile).text))
    let limit = options.joinTimeout
    let joinTimer = Task {
      try await group.any().sleep(for: limit)
      socket.close(code: 4000, reason: "The join was not answered within \(limit).")
    }
    defer { joinTimer.cancel() }
    var membership = SkyRTCMembership(maximumOthers: options.maximumParticipants)
    for await message in socket.messages {
      guard let event = event(for: message, in: &membership) else { continue }
      if case .joined(let you, let others) = event {
        joinTimer.cancel()
        former = .init(id: you.text, secret: membership.secret)
        connection.withLock { connection in
          connection.isJoined = !connection.isClosed
          connection.keepsID = membership.secret != nil
        }
        if membership.ignoredCount > 0 {
          logger.warning(
            "The room holds \(others.count + membership.ignoredCount) others, of whom only \(others.count) are used.")
        }
        if let assigned = membership.iceServers {
          if let problem = assigned.problem { logger.warning("\(problem)") }
          if !assigned.servers.isEmpty { await inbox.deliver(.iceServers(assigned.servers)) }
        }
      }
      await inbox.deliver(event)
    }
    return await socket.ended()
  }

  private func event(for message: WebSocketMessage, in membership: inout SkyRTCMembership) -> SignallingEvent? {
    let text =
      switch message {
      case .text(let text): text
      case .binary(let data): String(decoding: data.readableBytesView, as: UTF8.self)
      }
    do throws(SignallingError) {
      switch membership.received(try ServerMessage(parsing: text)) {
      case .event(let event): return event
      case .ignored(let anomaly): logger.debug("A message of the server is ignored: \(anomaly)")
      }
    } catch {
      guard let suppressedCount = warnings.withLock({ $0.consume(now: .now) }) else { return nil }
      logger.warning(
        "A message of the server is ignored: \(error)",
        metadata: suppressedCount > 0 ? ["others ignored since the last warning": "\(suppressedCount)"] : nil)
    }
    return nil
  }
}
