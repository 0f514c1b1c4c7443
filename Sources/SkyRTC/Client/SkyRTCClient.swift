public import Logging
public import Media
public import NIOCore
public import NIOPosix
public import Signalling
import Synchronization

/// A participant's line to a SkyRTC server: it joins one room, stays in it, and comes back when the server is lost.
///
/// ```
///            connect()                 `_peers`
///   new ───────────────► connecting ─────────────► joined
///                             ▲                      │ the connection ends
///                             └──── waiting ◄────────┘
///                              0.5 to 30 s, jittered
/// ```
/// `close()` ends it from everywhere. Events come in `events`, for one reader.
public final class SkyRTCClient: Sendable {
  /// What happens, in order; ends with `close()`. At most `Options.maximumWaitingEvents` wait for the reader.
  public var events: some AsyncSequence<SignallingEvent, Never> & Sendable { eventStream }
  public let url: WebSocketURL
  public let room: String

  private let options: Options
  private let logger: Logger
  private let group: any EventLoopGroup
  private let eventStream: AsyncStream<SignallingEvent>
  private let inbox: AsyncStream<SignallingEvent>.Continuation
  /// Guarded because `send` is called from any thread and must keep the order of its calls.
  private let line = Mutex(Line())
  /// About the server's messages: one that sends nothing else must not fill a log.
  private let warnings = Mutex(LogRateLimiter(perSecond: 1, burst: 20, now: .now()))

  private struct Line {
    var socket: WebSocketClient?
    var isJoined = false
    var isClosed = false
    var task: Task<Void, Never>?
  }

  /// Makes a client that is not connected yet.
  ///
  /// - Parameters:
  ///   - url: for example `ws://localhost:3000`.
  ///   - room: an empty name is the server's default room.
  public init(
    url: String, room: String, options: Options = Options(), logger: Logger = Logger(label: "skyrtc.client"),
    on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
  ) throws(WebSocketURL.ParseError) {
    self.url = try WebSocketURL(url)
    self.room = room
    self.options = options
    self.logger = logger
    self.group = group
    (eventStream, inbox) = AsyncStream.makeStream(
      bufferingPolicy: .bufferingOldest(max(1, options.maximumWaitingEvents)))
  }

  deinit {
    inbox.finish()
  }

  // MARK: What the owner requests

  /// Connects for the first time and asks to join; the first event is then `joined`. From here on a lost connection is
  /// made again without being asked.
  ///
  /// - Throws: when the server is not reached. Nothing continues by itself then, and `connect` may be called again.
  public func connect() async throws(WebSocketConnectError) {
    let socket = try await WebSocketClient.connect(to: url, options: options.webSocket, on: group)
    let isWanted = line.withLock { line in
      if line.isClosed || line.task != nil { return false }
      line.task = Task { await self.stayJoined(from: socket) }
      return true
    }
    if !isWanted { socket.close() }
  }

  /// Sends a message to another participant. Not joined, or to somebody who has left, it goes nowhere, which is what the
  /// protocol makes of it too.
  public func send(_ message: SignallingMessage, to participant: ParticipantID) {
    let id = participant.text
    let signal: RelayedMessage =
      switch message {
      case .offer(let sdp): .offer(SignalledDescription(type: "offer", sdp: sdp))
      case .answer(let sdp): .answer(SignalledDescription(type: "answer", sdp: sdp))
      case .candidate(let candidate): .candidate(candidate)
      }
    line.withLock { line in
      guard line.isJoined, let socket = line.socket else {
        logger.debug("A signal is dropped, because no server is there.", metadata: ["participant": "\(id)"])
        return
      }
      socket.send(.text(ClientMessage.signal(signal, to: id).text))
    }
  }

  /// Leaves the room, ends `events` and returns when the connection is closed, at the latest after
  /// `Options.closeTimeout`.
  public func close() async {
    let (socket, task) = line.withLock { line in
      line.isClosed = true
      line.isJoined = false
      return (line.socket, line.task)
    }
    inbox.finish()
    socket?.close(code: 1000, reason: "")
    if let socket { _ = await socket.ended() }
    task?.cancel()
  }

  // MARK: The life of the line

  private var isClosed: Bool { line.withLock { $0.isClosed } }

  private func stayJoined(from first: WebSocketClient) async {
    var backoff = ReconnectBackoff(shortest: options.shortestRetryDelay, longest: options.longestRetryDelay)
    var generator = SystemRandomNumberGenerator()
    var former: ClientMessage.FormerIdentity?
    var next: WebSocketClient? = first
    while !isClosed {
      let reason: String
      do throws(WebSocketConnectError) {
        let socket: WebSocketClient
        if let given = next {
          socket = given
        } else {
          socket = try await WebSocketClient.connect(to: url, options: options.webSocket, on: group)
        }
        next = nil
        let start = ContinuousClock.now
        reason = await stayJoined(on: socket, former: &former).description
        if ContinuousClock.now - start >= options.steadyAfter { backoff.reset() }
      } catch {
        reason = error.description
      }
      if isClosed { break }
      let delay = backoff.next(using: &generator)
      await deliver(.connectionLost(reason: reason, retryAfter: delay))
      try? await group.any().sleep(for: delay)
    }
    inbox.finish()
  }

  /// Joins on a fresh connection and hands on what comes, until its end.
  ///
  /// - Parameter former: the id of the last connection, which is requested again; then the id of this one.
  private func stayJoined(
    on socket: WebSocketClient, former: inout ClientMessage.FormerIdentity?
  ) async -> WebSocketCloseReason {
    let isWanted = line.withLock { line in
      if !line.isClosed { line.socket = socket }
      return !line.isClosed
    }
    defer {
      line.withLock { line in
        line.socket = nil
        line.isJoined = false
      }
    }
    guard isWanted else {
      socket.close()
      return await socket.ended()
    }
    socket.send(.text(ClientMessage.join(room: room, former: former).text))
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
        line.withLock { $0.isJoined = !$0.isClosed }
        if membership.leftOut > 0 {
          logger.warning(
            "The room holds \(others.count + membership.leftOut) others, of whom \(others.count) are noted.")
        }
      }
      await deliver(event)
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
      guard let leftOut = warnings.withLock({ $0.consume(now: .now()) }) else { return nil }
      logger.warning(
        "A message of the server is ignored: \(error)",
        metadata: leftOut > 0 ? ["others ignored since the last warning": "\(leftOut)"] : nil)
    }
    return nil
  }

  /// Hands an event on; waits while the reader is too far behind.
  private func deliver(_ event: SignallingEvent) async {
    while case .dropped = inbox.yield(event) {
      do { try await group.any().sleep(for: .milliseconds(20)) } catch { return }
    }
  }
}
