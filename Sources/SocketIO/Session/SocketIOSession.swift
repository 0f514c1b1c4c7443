package import JSON
package import Media

/// One connection to a Socket.IO server: the handshakes of Engine.IO and of the root namespace, pings and time-outs.
/// Pure.
///
/// ```
///                  `0{…}`                            `40`
///   waitingForOpen ───────► waitingForNamespace ────────────► connected
///                           sends `40` if the server is
///                           of revision 4
/// ```
/// Some servers of revision 3 accept `EIO=4` in the URL. So the revision is found by what the server does: only
/// revision 4 states a maximum payload, and only revision 3 sends a bare `40` unasked.
package struct SocketIOSession: Sendable {
  package struct Configuration: Sendable {
    /// The time for both handshakes together.
    package var joinTimeout: Duration = .seconds(10)
    /// How long a server that may be of revision 3 has for its `40`, before we ask for the namespace.
    package var detectionTime: Duration = .milliseconds(500)
    package var maximumMessageBytes = 256 * 1024

    package init() {}
  }

  package enum Action: Sendable, Hashable {
    /// Send this packet of Engine.IO.
    case send(String)
    /// The root namespace is connected: events can be sent.
    case connected(EngineIOGeneration)
    case event(name: String, arguments: [JSONValue])
    /// The connection cannot be used any more; one sentence.
    case end(String)
    /// A packet had no effect.
    case ignored(SocketIOParseError)
  }

  private enum State: Sendable {
    case waitingForOpen(until: MonotonicInstant)
    /// `ask`: when we ask for the namespace; nil after that, and with a server of revision 3.
    case waitingForNamespace(until: MonotonicInstant, ask: MonotonicInstant?)
    case connected
    case ended
  }

  private let configuration: Configuration
  private var state: State
  /// Nil until it is known.
  private var generation: EngineIOGeneration?
  private var pingInterval: Duration = .seconds(25)
  private var pingTimeout: Duration = .seconds(20)
  /// When the last packet arrived.
  private var heard: MonotonicInstant
  /// When we send the next ping, in revision 3.
  private var nextPing: MonotonicInstant?

  /// - Parameter generation: the revision of the server, if it is known; otherwise it is found.
  package init(
    generation: EngineIOGeneration?, configuration: Configuration = Configuration(), now: MonotonicInstant
  ) {
    self.generation = generation
    self.configuration = configuration
    state = .waitingForOpen(until: now + configuration.joinTimeout)
    heard = now
  }

  package var isConnected: Bool { if case .connected = state { true } else { false } }

  // MARK: Packets

  /// Handles a packet of Engine.IO.
  package mutating func received(_ text: String, now: MonotonicInstant) -> [Action] {
    if case .ended = state { return [] }
    heard = now
    do throws(SocketIOParseError) {
      let size = text.utf8.count
      guard size <= configuration.maximumMessageBytes else {
        throw .tooLarge(bytes: size, limit: configuration.maximumMessageBytes)
      }
      return try received(EngineIOPacket(parsing: text), now: now)
    } catch {
      return [.ignored(error)]
    }
  }

  private mutating func received(
    _ packet: EngineIOPacket, now: MonotonicInstant
  ) throws(SocketIOParseError) -> [Action] {
    switch packet.kind {
    case .open:
      guard case .waitingForOpen(let end) = state else { return [] }
      return opened(try EngineIOHandshake(parsing: packet.text), until: end, now: now)
    case .close:
      return end("The server closed the connection.")
    case .ping:
      // A server that sends pings needs none of ours.
      nextPing = nil
      return [.send(EngineIOPacket(.pong, packet.text).encoded)]
    case .message:
      return try received(SocketIOPacket(parsing: packet.text), now: now)
    case .pong, .upgrade, .noop:
      return []
    }
  }

  private mutating func opened(
    _ handshake: EngineIOHandshake, until end: MonotonicInstant, now: MonotonicInstant
  ) -> [Action] {
    pingInterval = handshake.pingInterval
    pingTimeout = handshake.pingTimeout
    if generation == nil, handshake.hasMaximumPayload { generation = .four }
    switch generation {
    case .three:
      nextPing = now + pingInterval
      state = .waitingForNamespace(until: end, ask: nil)
      return []
    case .four:
      state = .waitingForNamespace(until: end, ask: nil)
      return [Self.askForNamespace]
    case nil:
      state = .waitingForNamespace(until: end, ask: now + configuration.detectionTime)
      return []
    }
  }

  private mutating func received(
    _ packet: SocketIOPacket, now: MonotonicInstant
  ) throws(SocketIOParseError) -> [Action] {
    guard packet.namespace == "/" else { return [] }
    switch packet.kind {
    case .connect:
      guard case .waitingForNamespace = state else { return [] }
      if packet.data?["sid"] == nil, generation != .four {
        generation = .three
        nextPing = now + pingInterval
      }
      state = .connected
      return [.connected(generation ?? .four)]
    case .disconnect:
      return end("The server closed the connection of Socket.IO.")
    case .event:
      guard case .connected = state else { return [] }
      let (name, arguments) = try packet.event()
      let event = Action.event(name: name, arguments: arguments)
      guard let id = packet.acknowledgmentID else { return [event] }
      let reply = SocketIOPacket(.acknowledgment, acknowledgmentID: id, data: .array([]))
      return [.send(EngineIOPacket(.message, reply.encoded).encoded), event]
    case .acknowledgment:
      return []
    case .error:
      if isConnected { return [] }
      let text = packet.data?["message"]?.lenientText ?? packet.data?.lenientText ?? "no reason given"
      return end("The server refuses the connection: \(text).")
    }
  }

  private mutating func end(_ reason: String) -> [Action] {
    state = .ended
    return [.end(reason)]
  }

  private static let askForNamespace = Action.send(
    EngineIOPacket(.message, SocketIOPacket(.connect).encoded).encoded)

  // MARK: Time

  /// When `poll` has something to do.
  package var deadline: MonotonicInstant? {
    let silence = heard + pingInterval + pingTimeout
    switch state {
    case .waitingForOpen(let end): return end
    case .waitingForNamespace(let end, let ask): return min(end, ask ?? end, nextPing ?? end)
    case .connected: return min(silence, nextPing ?? silence)
    case .ended: return nil
    }
  }

  package mutating func poll(now: MonotonicInstant) -> [Action] {
    switch state {
    case .ended:
      return []
    case .waitingForOpen(let end) where end <= now:
      return self.end("The server did not open a connection of Engine.IO within \(configuration.joinTimeout).")
    case .waitingForOpen:
      return []
    case .waitingForNamespace(let end, _) where end <= now:
      return self.end("The server did not connect Socket.IO within \(configuration.joinTimeout).")
    case .waitingForNamespace(let end, let ask?) where ask <= now:
      state = .waitingForNamespace(until: end, ask: nil)
      return [Self.askForNamespace]
    case .waitingForNamespace, .connected:
      if heard + pingInterval + pingTimeout <= now {
        return self.end("The server was silent for \(pingInterval + pingTimeout).")
      }
      guard let due = nextPing, due <= now else { return [] }
      nextPing = now + pingInterval
      return [.send(EngineIOPacket(.ping).encoded)]
    }
  }
}
