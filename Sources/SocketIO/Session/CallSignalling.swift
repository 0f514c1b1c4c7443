internal import JSON
package import Media
package import Signalling

/// Everything that the client decides: the connection of the moment, the login, and the calls, which outlive
/// connections. Pure: packets, calls of the owner and the time come in, actions go out.
package struct CallSignalling: Sendable {
  /// What follows from an input, to be carried out in order.
  package enum Action: Sendable, Hashable {
    /// Send this packet of Engine.IO.
    case send(String)
    case deliver(SignallingEvent)
    case loggedIn(EngineIOGeneration)
    /// Close the connection.
    case end(End)
    /// A message of the server had no effect; a sentence for the log.
    case ignored(String)
    case note(String)
  }

  /// Why a connection ends.
  package enum End: Sendable, Hashable {
    /// The next one may last.
    case lost(String)
    /// The server does not accept the user.
    case loginRefused(String)
  }

  private enum Login: Sendable {
    case notSent
    case sent(until: MonotonicInstant, EngineIOGeneration)
    case accepted
  }

  package private(set) var calls: CallControl
  /// The number of messages that could not be read.
  package private(set) var malformedCount = 0
  private let configuration: SocketIOSession.Configuration
  private var session: SocketIOSession?
  private var login = Login.notSent
  private var hasLoggedIn = false
  private var refusedLogins = 0

  /// After a lost connection, a server may refuse the login until it knows that the former connection is lost too.
  private static let maximumRefusedLogins = 5

  package init(calls: CallControl, configuration: SocketIOSession.Configuration = .init()) {
    self.calls = calls
    self.configuration = configuration
  }

  // MARK: The connection

  /// A connection was opened.
  ///
  /// - Parameter generation: the revision of the server, if it is known.
  package mutating func opened(generation: EngineIOGeneration?, now: MonotonicInstant) {
    session = SocketIOSession(generation: generation, configuration: configuration, now: now)
    login = .notSent
  }

  /// The connection ended.
  package mutating func closed() {
    session = nil
    login = .notSent
    calls.connectionLost()
  }

  /// A packet of Engine.IO arrived.
  package mutating func received(_ packet: String, now: MonotonicInstant) -> [Action] {
    guard let actions = session?.received(packet, now: now) else { return [] }
    return carryOut(actions, now: now)
  }

  /// When `poll` has something to do.
  package var deadline: MonotonicInstant? {
    var deadlines = [session?.deadline, calls.deadline].compactMap(\.self)
    if case .sent(let end, _) = login { deadlines.append(end) }
    return deadlines.min()
  }

  package mutating func poll(now: MonotonicInstant) -> [Action] {
    guard let actions = session?.poll(now: now) else { return [] }
    var result = carryOut(actions, now: now)
    if case .sent(let end, _) = login, end <= now {
      login = .notSent
      result.append(.end(.lost("The server did not answer the login within \(configuration.joinTimeout).")))
    }
    return result + carryOut(calls.poll(now: now))
  }

  // MARK: The owner

  package mutating func send(_ message: SignallingMessage, to other: ParticipantID) -> [Action] {
    carryOut(calls.send(message, to: other))
  }

  package mutating func hangUp(_ other: ParticipantID, now: MonotonicInstant) -> [Action] {
    carryOut(calls.hangUp(other, now: now))
  }

  /// Ends all calls and the connection.
  package mutating func leave() -> [Action] {
    let actions = carryOut(calls.leave())
    guard session?.isConnected == true else { return actions }
    return actions + [.send(Self.encoded(SocketIOPacket(.disconnect)))]
  }

  // MARK: Actions

  private mutating func carryOut(
    _ actions: [SocketIOSession.Action], now: MonotonicInstant
  ) -> [Action] {
    var result: [Action] = []
    for action in actions {
      switch action {
      case .send(let packet): result.append(.send(packet))
      case .connected(let generation):
        login = .sent(until: now + configuration.joinTimeout, generation)
        result.append(.send(Self.encoded(OutgoingCallMessage.login(userName: calls.user.text).packet)))
      case .event(let name, let arguments):
        result += received(name, arguments, now: now)
      case .end(let reason):
        result.append(.end(.lost(reason)))
      case .ignored(let error):
        malformedCount &+= 1
        result.append(.ignored(error.description))
      }
    }
    return result
  }

  private mutating func received(
    _ name: String, _ arguments: [JSONValue], now: MonotonicInstant
  ) -> [Action] {
    do throws(SocketIOParseError) {
      let message = try IncomingCallMessage(parsing: name, arguments: arguments)
      if case .login(let isAccepted, let iceServers) = message {
        return loginAnswered(isAccepted, iceServers, now: now)
      }
      return carryOut(calls.received(message, now: now))
    } catch .emptyObject(let event) where event == "call_response" {
      malformedCount &+= 1
      return [.ignored(SocketIOParseError.emptyObject(event: event).description)]
        + carryOut(calls.receivedEmptyResponse(now: now))
    } catch {
      malformedCount &+= 1
      return [.ignored(error.description)]
    }
  }

  private mutating func loginAnswered(
    _ isAccepted: Bool, _ iceServers: SignalledICEServers?, now: MonotonicInstant
  ) -> [Action] {
    guard case .sent(_, let generation) = login else { return [] }
    if isAccepted {
      login = .accepted
      hasLoggedIn = true
      refusedLogins = 0
      var assigned: [Action] = iceServers?.problem.map { [.note($0)] } ?? []
      if let servers = iceServers?.servers, !servers.isEmpty { assigned.append(.deliver(.iceServers(servers))) }
      return [.loggedIn(generation)] + assigned + carryOut(calls.loggedIn(now: now))
    }
    login = .notSent
    refusedLogins += 1
    let reason = "The server refuses the login of the user \"\(calls.user.text.printable(utf8Bytes: 64))\"."
    let isFinal = !hasLoggedIn || refusedLogins >= Self.maximumRefusedLogins
    return [.end(isFinal ? .loginRefused(reason) : .lost(reason))]
  }

  private func carryOut(_ actions: [CallControl.Action]) -> [Action] {
    actions.map { action in
      switch action {
      case .send(let message): .send(Self.encoded(message.packet))
      case .deliver(let event): .deliver(event)
      case .ignored(let anomaly): .ignored(anomaly.description)
      case .note(let text): .note(text)
      }
    }
  }

  private static func encoded(_ packet: SocketIOPacket) -> String {
    EngineIOPacket(.message, packet.encoded).encoded
  }
}
