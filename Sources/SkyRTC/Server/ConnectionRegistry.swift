import FoundationEssentials
import HTTPTransport
import Logging
import Media
import NIOCore
import Signalling

/// All clients of a server and their rooms. Every method must be called on the server's event loop.
///
/// It assigns an id to each WebSocket, checks messages against the limits, lets `Rooms` decide, and delivers. A message
/// that is not of the protocol is ignored, because old clients send odd ones. A client that sends more of them than the
/// limit is closed with a reason, and so is a client that cannot join its room.
final class ConnectionRegistry {
  private struct Client {
    var handler: WebSocketHandler
    var name: Name
    var messages: TokenBucket
    var bytes: TokenBucket
    /// A join causes messages to all members of two rooms.
    var joins: TokenBucket
    /// Signals of other participants that wait to be sent to this client.
    var waitingSignals: RelayQueueLimiter
    var unusableMessages = 0
    var joinTimer: Scheduled<Void>?
  }

  private let limits: SkyRTCServer.Limits
  /// Returns the ICE servers for a client that joins now.
  private let iceServers: @Sendable () -> [ICEServer]
  private let logger: Logger
  private let loop: any EventLoop
  private var rooms: Rooms
  private var clients: [String: Client] = [:]
  private var channels: [ObjectIdentifier: any Channel] = [:]
  private var connections: ConnectionCount
  /// Warnings about connections and clients that exceed a limit, and warnings about skipped signals.
  private var warnings: LogRateLimiter
  private var signalWarnings: LogRateLimiter
  private var isStopping = false

  init(
    limits: SkyRTCServer.Limits, iceServers: @escaping @Sendable () -> [ICEServer] = { [] }, logger: Logger,
    loop: any EventLoop
  ) {
    self.limits = limits
    self.iceServers = iceServers
    self.logger = logger
    self.loop = loop
    connections = ConnectionCount(
      maximum: limits.maximumConnections, maximumPerAddress: limits.maximumConnectionsPerAddress)
    warnings = LogRateLimiter(perSecond: 1, burst: 20)
    signalWarnings = LogRateLimiter(perSecond: 1, burst: 20)
    rooms = Rooms(
      maximumNameCharacters: limits.maximumRoomNameCharacters, maximumUsers: limits.maximumUsersPerRoom,
      maximumRooms: limits.maximumRooms)
  }

  /// The ids in a room, in the order of joining.
  func members(of room: String) -> [String] { rooms.members(of: room) }

  /// How many rooms, participants of all rooms and TCP connections there are.
  var figures: (rooms: Int, participants: Int, connections: Int) {
    (rooms.count, rooms.participantCount, connections.total)
  }

  // MARK: Connections

  /// Registers a new TCP connection, unless that exceeds a limit.
  func admit(_ channel: any Channel) -> Bool {
    if isStopping { return false }
    let address = channel.remoteAddress
    if let rejection = connections.open(address) {
      warn(within: &warnings, "A connection was refused: \(rejection).")
      return false
    }
    let key = ObjectIdentifier(channel)
    channels[key] = channel
    channel.closeFuture.assumeIsolated().whenComplete { [self] _ in
      channels[key] = nil
      connections.close(address)
    }
    return true
  }

  /// Registers a connection that has just become a WebSocket.
  func open(_ channel: any Channel) throws {
    // A client takes another id when it reclaims its former one, so the handler's closures share this box.
    let name = Name(ParticipantIdentity())
    let handler = WebSocketHandler(
      side: .server, limits: limits.webSocket,
      owner: .init(
        received: { [self] in received($0, from: name) },
        ended: { [self] in ended(name.id, how: $0) }))
    var client = Client(
      handler: handler, name: name,
      messages: TokenBucket(perSecond: limits.maximumMessagesPerSecond, burst: limits.maximumMessageBurst),
      bytes: TokenBucket(
        perSecond: limits.maximumBytesPerSecond, burst: max(limits.maximumByteBurst, limits.maximumMessageBytes)),
      joins: TokenBucket(perSecond: limits.maximumJoinsPerSecond, burst: limits.maximumJoinBurst),
      waitingSignals: RelayQueueLimiter(maximumBytes: limits.maximumOutgoingBytes))
    client.joinTimer = loop.assumeIsolated().scheduleTask(in: TimeAmount(limits.joinTimeout)) { [self] in
      drop(name.id, because: "No room was joined within \(limits.joinTimeout).")
    }
    clients[name.id] = client
    try channel.pipeline.syncOperations.addHandler(handler)
    logger.debug("A WebSocket opened.", metadata: ["user": "\(name.id)"])
  }

  private final class Name {
    var identity: ParticipantIdentity
    var id: String { identity.id }
    init(_ identity: ParticipantIdentity) { self.identity = identity }
  }

  private func ended(_ id: String, how: WebSocketCloseReason) {
    clients.removeValue(forKey: id)?.joinTimer?.cancel()
    if isStopping { return }
    let room = rooms.room(of: id)
    deliver(rooms.leave(id))
    logger.log(
      level: room == nil ? .debug : .info, "A participant left: \(how)",
      metadata: ["user": "\(id)", "room": "\((room ?? "").printable())"])
  }

  /// Closes a client with a reason, and removes it from its room at once.
  private func drop(_ id: String, code: UInt16 = 1008, because reason: String) {
    guard let client = clients[id] else { return }
    warn(within: &warnings, "A participant is dropped: \(reason)", metadata: ["user": "\(id)"])
    client.joinTimer?.cancel()
    deliver(rooms.leave(id))
    client.handler.close(code: code, reason: reason)
  }

  // MARK: Messages

  /// The time for the limits.
  private var now: MonotonicInstant { MonotonicInstant(ofEventLoop: loop.now) }

  private func received(_ message: WebSocketMessage, from name: Name) {
    guard clients[name.id]?.messages.consume(now: now) == true else {
      return drop(name.id, because: "More than \(limits.maximumMessagesPerSecond) messages a second arrived.")
    }
    guard clients[name.id]?.bytes.consume(message.size, now: now) == true else {
      return drop(name.id, because: "More than \(limits.maximumBytesPerSecond) bytes a second arrived.")
    }
    do throws(SignallingError) {
      switch try ClientMessage(parsing: try Self.text(of: message)) {
      case .join(let room, let former, let profile):
        guard clients[name.id]?.joins.consume(now: now) == true else {
          return drop(name.id, because: "More than \(limits.maximumJoinsPerSecond) rooms a second were joined.")
        }
        join(room, former: former, profile: profile, name: name)
      case .profile(let profile):
        // It causes a message to each member of the room, like a join.
        guard clients[name.id]?.joins.consume(now: now) == true else {
          return drop(name.id, because: "More than \(limits.maximumJoinsPerSecond) profiles a second were sent.")
        }
        deliver(rooms.setProfile(profile, of: name.id))
      case .signal(let signal, let target): relay(signal, from: name.id, to: target)
      }
    } catch {
      ignored(error, from: name.id)
    }
  }

  /// Both kinds count as text, because the iOS client sends binary frames.
  private static func text(of message: WebSocketMessage) throws(SignallingError) -> String {
    switch message {
    case .text(let text):
      return text
    case .binary(let data):
      guard let text = String(validating: data.readableBytesView, as: UTF8.self) else {
        throw .notAMessage(bytes: data.readableBytes)
      }
      return text
    }
  }

  private func ignored(_ error: SignallingError, from id: String) {
    logger.debug("A message is ignored: \(error)", metadata: ["user": "\(id)"])
    clients[id]?.unusableMessages += 1
    guard let client = clients[id], client.unusableMessages > limits.maximumUnusableMessages else { return }
    drop(id, because: "\(client.unusableMessages) messages were not of the SkyRTC protocol.")
  }

  private func join(
    _ room: String, former: ClientMessage.FormerIdentity?, profile: ParticipantProfile, name: Name
  ) {
    if let former { takeBack(former, name: name) }
    do throws(Rooms.JoinError) {
      var deliveries = try rooms.join(name.id, room: room, profile: profile)
      for index in deliveries.indices {
        guard case .peers(let you, let others, _, _, let profiles) = deliveries[index].message else { continue }
        let servers = iceServers()
        func peers(_ profiles: [String: ParticipantProfile]) -> ServerMessage {
          .peers(
            you: you, others: others, secret: name.identity.secret,
            iceServers: servers.isEmpty ? nil : SignalledICEServers(servers), profiles: profiles)
        }
        deliveries[index].message = peers(profiles)
        // Long names in a very large room must not keep a newcomer out, whose messages may have the same size as ours.
        if !profiles.isEmpty, deliveries[index].message.text.utf8.count > limits.maximumMessageBytes {
          deliveries[index].message = peers([:])
        }
      }
      clients[name.id]?.joinTimer?.cancel()
      var metadata: Logger.Metadata = ["user": "\(name.id)", "room": "\(room.printable())"]
      if let text = profile.name { metadata["name"] = "\(text)" }
      logger.info("A participant joined; \(rooms.members(of: room).count) are in the room.", metadata: metadata)
      deliver(deliveries)
    } catch {
      drop(name.id, because: error.description)
    }
  }

  /// Assigns its former id to a client that returns, if it sends the secret of that id and has not joined a room with
  /// the new one. A former connection with that id that the server has not yet seen end is closed.
  private func takeBack(_ former: ClientMessage.FormerIdentity, name: Name) {
    guard let secret = former.secret, let identity = ParticipantIdentity(id: former.id, secret: secret) else {
      logger.debug(
        "A client requests an id without its secret and gets a new one.", metadata: ["user": "\(name.id)"])
      return
    }
    guard identity.id != name.id, rooms.room(of: name.id) == nil else { return }
    if let gone = clients.removeValue(forKey: identity.id) {
      gone.joinTimer?.cancel()
      gone.name.identity = ParticipantIdentity()
      gone.handler.close(code: 1008, reason: "This participant has connected again.")
    }
    clients[identity.id] = clients.removeValue(forKey: name.id)
    name.identity = identity
  }

  private func relay(_ signal: RelayedMessage, from sender: String, to target: String) {
    guard let delivery = rooms.relay(signal, from: sender, to: target) else {
      // Common after a participant left: their id is stale.
      logger.debug("A signal has no target in the room.", metadata: ["user": "\(sender)"])
      return
    }
    // A relayed candidate names its media section twice, for old pages, so it can exceed the limit where the request did not.
    let text = delivery.message.text
    guard text.utf8.count <= limits.maximumMessageBytes else {
      return drop(
        sender, code: 1009,
        because:
          "A message has \(text.utf8.count) bytes when it is relayed, but \(limits.maximumMessageBytes) are allowed.")
    }
    pass(text, from: sender, to: delivery.to)
  }

  /// Sends a signal, unless too many already wait for its receiver. A participant's signals must not get another
  /// participant dropped.
  private func pass(_ text: String, from sender: String, to receiver: String) {
    let size = text.utf8.count + WebSocketHandler.frameOverhead
    guard clients[receiver]?.waitingSignals.add(size, from: sender) == true, let client = clients[receiver] else {
      return warn(
        within: &signalWarnings, "A signal is skipped, because its receiver reads too slowly.",
        metadata: ["user": "\(sender)", "receiver": "\(receiver)"])
    }
    let sent = loop.makePromise(of: Void.self)
    // By then the receiver may have reclaimed a former id, or may be gone and another client may have this id.
    let name = client.name
    sent.futureResult.assumeIsolated().whenComplete { [self] _ in
      guard clients[name.id]?.name === name else { return }
      clients[name.id]?.waitingSignals.remove(size, from: sender)
    }
    client.handler.send(.text(text), promise: sent)
  }

  private func deliver(_ deliveries: [Rooms.Delivery]) {
    // Consecutive deliveries often carry the same message, which is encoded once.
    var last: (message: ServerMessage, text: String)?
    for delivery in deliveries {
      let text = if let last, last.message == delivery.message { last.text } else { delivery.message.text }
      last = (delivery.message, text)
      clients[delivery.to]?.handler.send(.text(text))
    }
  }

  private func warn(within bucket: inout LogRateLimiter, _ sentence: String, metadata: Logger.Metadata = [:]) {
    guard let suppressedCount = bucket.consume(now: now) else { return }
    var metadata = metadata
    if suppressedCount > 0 { metadata["warnings skipped before"] = "\(suppressedCount)" }
    logger.warning("\(sentence)", metadata: metadata)
  }

  // MARK: Shutdown

  /// Closes all connections and returns when they are closed. Sends no `_remove_peer`: calls continue, and all
  /// participants may meet again on the next server.
  func stop() -> EventLoopFuture<Void> {
    isStopping = true
    let open = Array(channels.values)
    let webSockets = Set(clients.values.compactMap { $0.handler.channel.map(ObjectIdentifier.init) })
    for client in clients.values {
      client.joinTimer?.cancel()
      client.handler.close(code: 1001, reason: "The server is shutting down.")
    }
    for channel in open where !webSockets.contains(ObjectIdentifier(channel)) { channel.close(promise: nil) }
    return EventLoopFuture.andAllComplete(open.map(\.closeFuture), on: loop)
  }
}

extension SkyRTCServer.Limits {
  var webSocket: WebSocketLimits {
    var limits = WebSocketLimits()
    limits.maximumMessageBytes = maximumMessageBytes
    limits.maximumFrameRate = (maximumFramesPerSecond, maximumFrameBurst)
    limits.maximumOutgoingBytes = maximumOutgoingBytes
    limits.pingInterval = pingInterval
    limits.pingTimeout = pingTimeout
    limits.closeTimeout = closeTimeout
    return limits
  }
}

@available(*, unavailable)
extension ConnectionRegistry: Sendable {}
