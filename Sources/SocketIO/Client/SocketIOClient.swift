public import HTTPTransport
public import Logging
public import Media
public import NIOCore
public import NIOPosix
public import Signalling
import Synchronization

/// A user of a call server that speaks Socket.IO: logs in under a name, calls users, and answers those who call.
///
/// ```
///            connect()                 login accepted
///   new ───────────────► connecting ─────────────────► logged in
///                             ▲                            │ the connection ends
///                             └───────── waiting ◄─────────┘
///                                   0.5 to 30 s, jittered
/// ```
/// There are no rooms: `SignallingEvent.joined(id:others:)` has no others, and each call is a participant whose id
/// and name are the user's name. We offer to users whom we call; callers offer to us.
///
/// An answer must contain all candidates, as the clients of this protocol write it; ours are sent separately too. A peer
/// with host candidates puts them into its answer anyway.
///
/// Sources: the Engine.IO protocol, revisions 3 and 4, and the Socket.IO protocol, revisions 4 and 5.
public final class SocketIOClient: SignallingClient {
  public let events: SignallingEvents
  /// The address of the server. Without a path, `/socket.io/` is used.
  public let url: HTTPURL
  /// Our name, under which others call us.
  public let userName: String

  let options: Options
  let logger: Logger
  let connector: EngineIOConnector
  let inbox: SignallingEventBuffer
  let state: Mutex<State>
  /// For messages of the server that are ignored: a server that sends nothing else must not fill the log.
  let logLimiter = Mutex(LogRateLimiter(perSecond: 1, burst: 20))
  private let calls: [String]
  private let http: HTTPClient

  struct State: Sendable {
    var signalling: CallSignalling
    var transport: (any EngineIOTransport)?
    /// Why the connection of the moment ends, if we end it.
    var end: CallSignalling.End?
    /// Events on their way into the inbox, in order.
    var pending: [SignallingEvent] = []
    var wakeDelivery: AsyncStream<Void>.Continuation?
    /// Resumed by the first login.
    var firstLogin: CheckedContinuation<Result<Void, SignallingConnectError>, Never>?
    var isStarted = false
    /// `leave` was called.
    var isLeaving = false
    /// `closed` was delivered.
    var isClosed = false
    var task: Task<Void, Never>?
    /// What keeps us connected; a new one for each call of `connect`.
    var reconnection: ReconnectingSession?
  }

  public var capabilities: SignallingCapabilities { Self.capabilities }

  /// What can be done at every server.
  static let capabilities: SignallingCapabilities = {
    var capabilities = SignallingCapabilities()
    capabilities.namesUsers = true
    return capabilities
  }()

  /// Creates a client that is not connected yet.
  ///
  /// - Parameters:
  ///   - url: the server's address, for example `http://localhost:9012`.
  ///   - userName: our name.
  ///   - calls: the users to call after the login. Without any, the client waits to be called.
  ///   - options: time-outs, limits and the certificates to trust.
  ///   - logger: logs refused calls and ignored messages.
  ///   - group: one of its event loops serves each connection.
  public init(
    url: HTTPURL, userName: String, calls: [String] = [], options: Options = Options(),
    logger: Logger = Logger(label: "socketio.client"),
    on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
  ) {
    self.url = url
    self.userName = userName
    self.calls = calls
    self.options = options
    self.logger = logger
    http = HTTPClient(options: options.http, on: group)
    connector = EngineIOConnector(
      url: url, webSocket: options.webSocket, http: http, connectTimeout: options.connectTimeout,
      closeTimeout: options.closeTimeout, group: group)
    (events, inbox) = SignallingEventBuffer.make(limit: options.maximumWaitingEvents)
    let control = CallControl(user: ParticipantID(userName), configuration: options.calls(calls))
    state = Mutex(State(signalling: CallSignalling(calls: control, configuration: options.session)))
  }

  deinit {
    inbox.finish()
  }

  // MARK: Calls of the owner

  /// Connects and logs in. The users to call are called then, and the client reconnects by itself.
  ///
  /// - Throws: `unauthorized` if the server refuses the user, `unreachable` or `rejected` otherwise.
  public func connect() async throws(SignallingConnectError) {
    try checkConfiguration()
    let isWanted = state.withLock { state in
      defer { state.isStarted = true }
      return !state.isStarted && !state.isLeaving && !state.isClosed
    }
    guard isWanted else { return }
    let opened: (transport: any EngineIOTransport, way: EngineIOConnector.Way)
    do throws(SignallingConnectError) {
      opened = try await connector.connect(preferring: nil)
    } catch {
      state.withLock { $0.isStarted = false }
      throw error
    }
    let result = await withCheckedContinuation { continuation in
      state.withLock { state in
        state.firstLogin = continuation
        let reconnection = makeReconnectingSession()
        state.reconnection = reconnection
        state.task = Task { await self.stayLoggedIn(reconnection, from: opened.transport, opened.way) }
      }
    }
    try result.get()
  }

  /// Sends a message to a user with whom there is a call. While the server is lost it waits for the next
  /// login, until a newer description replaces it.
  public func send(_ message: SignallingMessage, to participant: ParticipantID) {
    perform { signalling, _ in signalling.send(message, to: participant) }
  }

  /// Ends the call with a user, for example after their media stopped. No event follows.
  public func hangUp(_ participant: ParticipantID) {
    perform { signalling, now in signalling.hangUp(participant, now: now) }
  }

  /// Ends all calls, logs out, ends `events` and returns when the connection is closed, after `Options.closeTimeout` at
  /// the latest.
  public func leave() async {
    perform { signalling, _ in signalling.leave() }
    let (transport, task) = state.withLock { state in
      state.isLeaving = true
      state.reconnection?.leave()
      return (state.transport, state.task)
    }
    inbox.finish()
    transport?.close()
    if let transport { _ = await transport.ended() }
    task?.cancel()
    http.close()
  }

  /// The number of messages of the server that had no effect: damaged ones, and those of users with whom there was no
  /// call.
  public var ignoredMessageCount: Int {
    state.withLock { $0.signalling.calls.droppedCount &+ $0.signalling.malformedCount }
  }

  private func checkConfiguration() throws(SignallingConnectError) {
    for name in [userName] + calls where !(1...IncomingCallMessage.maximumNameBytes).contains(name.utf8.count) {
      throw .invalidConfiguration("The name of a user has 1 to \(IncomingCallMessage.maximumNameBytes) bytes.")
    }
    if calls.contains(where: { ParticipantID($0) == ParticipantID(userName) }) {
      throw .invalidConfiguration("A user cannot call themselves.")
    }
  }
}
