public import HTTPTransport
public import Logging
public import Media
public import NIOCore
public import NIOPosix
public import Signalling
import Synchronization

/// A participant's connection to a room of the Janus VideoRoom plugin, over WebSocket (subprotocol `janus-protocol`).
///
/// Janus is a media server: each feed of the room is announced as a participant of its own, from whom we only receive,
/// and who offers (`feed-` and the feed's id). With `Options.publishes` there is also the participant `publisher`, who
/// receives our media and to whom we offer; each new publication has a new id, such as `publisher-2`.
///
/// When the connection is lost, the client connects again and claims its session, so that calls continue on servers that
/// keep sessions (`reclaim_session_timeout`). Otherwise it joins again and subscribes again.
public final class JanusClient: SignallingClient {
  /// The events, in order, until `leave()` or `closed`. At most `Options.maximumWaitingEvents` wait for the reader.
  public let events: SignallingEvents
  public let url: WebSocketURL

  private let options: Options
  private let logger: Logger
  private let group: any EventLoopGroup
  private let inbox: SignallingEventBuffer
  private let reconnection: ReconnectingSession
  /// Guarded by a lock because `send` is called from any thread and must keep the order of its calls.
  private let shared: Mutex<Shared>
  /// A server that sends nothing useful must not fill the log.
  private let lines = Mutex(LogRateLimiter(perSecond: 1, burst: 20))

  private struct Shared {
    var session: JanusSession
    var socket: WebSocketClient?
    /// Why we closed the socket ourselves.
    var ending: JanusOutput.Ending?
    var isConnecting = false
    var isClosed = false
    var task: Task<Void, Never>?
  }

  public var capabilities: SignallingCapabilities { Self.capabilities }

  /// What can be done at every server.
  static let capabilities: SignallingCapabilities = {
    var capabilities = SignallingCapabilities()
    capabilities.dataChannels = nil
    capabilities.assignsICEServers = false
    // The server may have reported the end of a feed on a WebSocket that was lost.
    capabilities.requiresHangUpWhenClosedByParticipant = true
    capabilities.reportsEndedConnections = true
    capabilities.namesUsers = true
    return capabilities
  }()

  /// Creates a client that is not connected yet.
  ///
  /// - Parameters:
  ///   - url: the address of the WebSocket interface, for example `ws://localhost:8188`.
  ///   - options: the room, what we do there, secrets, timeouts and limits.
  ///   - logger: logs what the server rejects and messages that are ignored.
  ///   - group: one of its event loops serves each connection.
  public init(
    url: WebSocketURL, options: Options, logger: Logger = Logger(label: "janus.client"),
    on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
  ) {
    self.url = url
    self.options = options
    self.logger = logger
    self.group = group
    (events, inbox) = SignallingEventBuffer.make(limit: options.maximumWaitingEvents)
    reconnection = ReconnectingSession(
      .init(
        minimumDelay: options.minimumRetryDelay, maximumDelay: options.maximumRetryDelay,
        resetAge: options.backoffResetAge)
    ) { try? await group.any().sleep(for: $0) }
    shared = Mutex(Shared(session: JanusSession(configuration: options.configuration)))
  }

  deinit {
    inbox.finish()
  }

  // MARK: Calls of the owner

  /// Connects for the first time and joins the room; the first event is `joined`. From then on the client reconnects by
  /// itself when the connection is lost.
  ///
  /// - Throws: if the server cannot be reached or does not let us join. `connect` may then be called again.
  public func connect() async throws(SignallingConnectError) {
    let isFree = shared.withLock { shared in
      if shared.isConnecting || shared.isClosed || shared.task != nil { return false }
      shared.isConnecting = true
      return true
    }
    guard isFree else { throw .invalidConfiguration("The client is connected already, or has left.") }
    defer { shared.withLock { $0.isConnecting = false } }
    let socket: WebSocketClient
    do throws(WebSocketConnectError) {
      socket = try await WebSocketClient.connect(to: url, options: options.webSocket, on: group)
    } catch {
      throw SignallingConnectError(error)
    }
    let ticking = open(socket)
    if let ending = await run(socket, untilJoined: true) {
      ticking.cancel()
      await close(socket)
      shared.withLock { $0.session = JanusSession(configuration: options.configuration) }
      switch ending {
      case .permanent(let error): throw error
      case .closed(let reason): throw .rejected(reason)
      case .lost(let reason), .unresponsive(let reason): throw .unreachable(reason)
      case .left: throw .rejected("The client has left before it had joined.")
      }
    }
    shared.withLock { $0.task = Task { await self.stayJoined(on: socket, ticking: ticking) } }
  }

  /// Sends a message to a participant. It is discarded if we are not in the room or the participant has left; but an offer in a
  /// call that goes on is sent when the session continues.
  public func send(_ message: SignallingMessage, to participant: ParticipantID) {
    perform { $0.send(message, to: participant, now: .now) }
  }

  /// Ends the subscription to a feed and subscribes again, for a connection that we have ended or that has failed.
  public func hangUp(_ participant: ParticipantID) {
    perform { $0.hangUp(participant, now: .now) }
  }

  private func perform(_ work: (inout JanusSession) -> JanusOutput) {
    log(
      shared.withLock { shared in
        let output = work(&shared.session)
        Self.transmit(output, on: shared.socket)
        return output
      }.problems)
  }

  /// Leaves the room, ends `events` and returns when the server has confirmed it, after `Options.leaveTimeout` at the
  /// latest.
  public func leave() async {
    let (socket, task, isOver) = shared.withLock { shared in
      let output = shared.isClosed ? JanusOutput() : shared.session.leave(now: .now)
      shared.isClosed = true
      Self.transmit(output, on: shared.socket)
      return (shared.socket, shared.task, output.ending != nil)
    }
    reconnection.leave()
    inbox.finish()
    if let socket {
      if isOver { socket.close() }
      let limit = options.leaveTimeout
      let timer = Task {
        try await Task.sleep(for: limit)
        socket.close()
      }
      _ = await socket.ended()
      timer.cancel()
    }
    task?.cancel()
  }

  // MARK: One connection

  /// Begins the session on a new connection.
  ///
  /// - Returns: the task that does what is due.
  private func open(_ socket: WebSocketClient) -> Task<Void, Never> {
    let isWanted = shared.withLock { shared in
      if shared.isClosed { return false }
      shared.socket = socket
      shared.ending = nil
      Self.transmit(shared.session.opened(now: .now), on: socket)
      return true
    }
    if !isWanted { socket.close() }
    return Task { [weak self] in
      while !Task.isCancelled {
        guard let wait = self?.poll(socket) else { return }
        do { try await Task.sleep(for: wait) } catch { return }
      }
    }
  }

  /// Does what is due.
  ///
  /// - Returns: the wait until the next call, or nil if the connection has ended.
  private func poll(_ socket: WebSocketClient) -> Duration? {
    let now = MonotonicInstant.now
    let (output, deadline) = shared.withLock { shared in
      let output = shared.session.poll(
        now: now, isConnectionUsable: !shared.session.awaitsAcknowledgement || socket.hasLocalAddress)
      Self.transmit(output, on: socket)
      if let ending = output.ending { shared.ending = ending }
      return (output, shared.session.deadline)
    }
    log(output.problems)
    switch output.ending {
    case nil: break
    case .unresponsive:
      // Many servers end the session of a closed connection, so this one stays open until the next one has joined.
      socket.stopReceiving()
      return nil
    case .left, .lost, .closed, .permanent:
      socket.close(code: 1000, reason: "")
      return nil
    }
    // A received message can bring the deadline forward.
    let next = deadline.map { $0 - now } ?? .seconds(1)
    return min(max(next, .milliseconds(10)), .milliseconds(500))
  }

  /// Handles messages until the connection has no use any more.
  ///
  /// - Parameter untilJoined: return nil as soon as we have joined.
  private func run(_ socket: WebSocketClient, untilJoined: Bool) async -> JanusOutput.Ending? {
    for await message in socket.messages {
      let (output, isJoined) = handle(message, on: socket)
      log(output.problems)
      for event in output.events { await inbox.deliver(event) }
      if let ending = output.ending { return ending }
      if untilJoined, isJoined { return nil }
    }
    let (isClosed, ending) = shared.withLock { ($0.isClosed, $0.ending) }
    if isClosed || Task.isCancelled { return .left }
    if let ending { return ending }
    let reason = await socket.ended()
    return shared.withLock { $0.ending } ?? .lost(reason: reason.description)
  }

  private func handle(_ message: WebSocketMessage, on socket: WebSocketClient) -> (JanusOutput, isJoined: Bool) {
    let text =
      switch message {
      case .text(let text): text
      case .binary(let data): String(decoding: data.readableBytesView, as: UTF8.self)
      }
    do throws(JanusMessage.ParseError) {
      let message = try JanusMessage(parsing: text)
      return shared.withLock { shared in
        let output = shared.session.received(message, now: .now)
        Self.transmit(output, on: socket)
        return (output, shared.session.isJoined)
      }
    } catch {
      var output = JanusOutput()
      output.warn("A message of the server is ignored: \(error)")
      return (output, shared.withLock { $0.session.isJoined })
    }
  }

  private func close(_ socket: WebSocketClient) async {
    socket.close()
    _ = await socket.ended()
    connectionLost()
  }

  /// Notes that the connection is of no use any more.
  private func connectionLost() {
    shared.withLock { shared in
      shared.socket = nil
      shared.session.connectionLost()
    }
  }

  // MARK: Staying joined

  /// Uses the first connection, on which we have joined, and opens further ones. A connection that became unresponsive is
  /// followed by the next one without a wait.
  private func stayJoined(on first: WebSocketClient, ticking: Task<Void, Never>) async {
    /// The last connection. It stays open until the next one has joined, because many servers end the session with it.
    var former: WebSocketClient?
    await reconnection.run(
      from: (socket: first, ticking: ticking),
      connect: {
        () async throws(ReconnectionState.ConnectionEnd) -> (socket: WebSocketClient, ticking: Task<Void, Never>) in
        do throws(WebSocketConnectError) {
          let socket = try await WebSocketClient.connect(to: url, options: options.webSocket, on: group)
          return (socket, open(socket))
        } catch {
          throw .lost(reason: error.description)
        }
      },
      follow: { connection in
        var ending = await run(connection.socket, untilJoined: true)
        if ending == nil {
          former?.close()
          former = nil
          ending = await run(connection.socket, untilJoined: false)
        }
        connection.ticking.cancel()
        connectionLost()
        former?.close()
        former = connection.socket
        switch ending {
        case .permanent(let error): return .rejected(reason: error.description)
        case .closed(let sentence): return .closed(reason: sentence)
        case .lost(let sentence): return .lost(reason: sentence)
        case .unresponsive(let sentence): return .lost(reason: sentence, delay: .none)
        case .left, nil: return .finished
        }
      },
      deliver: { event in await inbox.deliver(event) })
    former?.close()
    inbox.finish()
  }

  private static func transmit(_ output: JanusOutput, on socket: WebSocketClient?) {
    for request in output.requests { socket?.send(.text(request.text)) }
  }

  private func log(_ problems: [JanusOutput.Problem]) {
    for problem in problems {
      let level: Logger.Level = problem.isWarning ? .warning : .debug
      guard level >= logger.logLevel, let suppressedCount = lines.withLock({ $0.consume(now: .now) }) else {
        continue
      }
      logger.log(
        level: level, "\(problem.sentence)",
        metadata: suppressedCount > 0 ? ["others since the last line": "\(suppressedCount)"] : nil)
    }
  }
}
