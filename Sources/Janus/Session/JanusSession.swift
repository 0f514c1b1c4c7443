package import Media
internal import Signalling

/// Our session with Janus and our place in a room: messages, calls and `now` come in, requests and events go out. Pure.
///
/// ```
///            opened          success            success            joined
///   closed ─────────► creating ─────► attaching ─────► joining ──────────► joined
///     ▲  └──────────► claiming ──────────────────► listing ─────────────────┘ │
///     │   again          └──► creating: the server has forgotten us           │ leave
///     └───────────────────────────────────────────────────────────────── leaving
///          connectionLost, from every state
/// ```
/// One handle is our place in the room; on it we publish. Each feed that we receive has a handle of its own.
package struct JanusSession: Sendable {
  enum State: Sendable, Hashable {
    case closed
    case claiming
    case creating
    case attaching
    case joining
    case listing
    case joined
    case leaving
  }

  let configuration: Configuration
  var state = State.closed
  var sessionID: UInt64?
  /// The handle of our place in the room.
  var roomHandle: UInt64?
  var ourID: JanusID?
  var privateID: UInt64?

  var subscriptions: [ParticipantID: JanusSubscription] = [:]
  var handles: [UInt64: ParticipantID] = [:]
  var publication: JanusPublication?
  /// How many publications were announced, for their ids.
  var publicationCount = 0
  /// The participants of a session that the server has forgotten, until we have joined again.
  var formerParticipants: [ParticipantID] = []

  var requests = JanusRequests()
  var joinDeadline: MonotonicInstant?
  /// When the release of our place counts as the reason for the end. A server that ends a session because it heard no
  /// keep-alive may say first that it releases the handles, and then why.
  var releaseDeadline: MonotonicInstant?
  /// How long after the release of our place the reason is awaited.
  package static let releaseDelay = Duration.milliseconds(500)
  /// How long the acknowledgement of a restart may take. Janus sends it before it acts on the request. If it is missing,
  /// the WebSocket probably used the network that was lost.
  static let acknowledgementTimeout = Duration.seconds(2)
  /// How long the server may take to offer a restart that is requested again in a claimed session.
  static let repeatedRestartTimeout = Duration.seconds(5)
  var nextKeepalive: MonotonicInstant?
  /// The number of messages that were ignored: for unknown handles or transactions, or without a meaning.
  package private(set) var ignoredCount = 0

  package init(configuration: Configuration) {
    self.configuration = configuration
  }

  package var isJoined: Bool { state == .joined }

  // MARK: Calls of the owner

  /// Begins on a new connection. A session of the last connection is claimed, because some servers keep it for a while.
  package mutating func opened(now: MonotonicInstant) -> JanusOutput {
    var output = JanusOutput()
    joinDeadline = now + configuration.joinTimeout
    if sessionID != nil, roomHandle != nil {
      state = .claiming
      request("claim", .claim, now: now, into: &output)
    } else {
      create(now: now, into: &output)
    }
    return output
  }

  /// Notes that the connection has ended. The session may be claimed on the next one.
  package mutating func connectionLost() {
    state = .closed
    if releaseDeadline != nil { forgetSession() }
    requests.removeAll()
    joinDeadline = nil
    nextKeepalive = nil
  }

  /// Leaves the room. The output's `ending` follows when the server has confirmed it.
  package mutating func leave(now: MonotonicInstant) -> JanusOutput {
    var output = JanusOutput()
    guard state != .closed, sessionID != nil else {
      output.ending = .left
      return output
    }
    if state == .joined, let roomHandle {
      var leave = JanusRequest("message")
      leave.handleID = roomHandle
      leave.body = .init("leave")
      send(leave, .unimportant, now: now, into: &output)
    }
    state = .leaving
    request("destroy", .destroy, now: now, into: &output)
    return output
  }

  /// The time of the next call of `poll`; nil while nothing is expected.
  package var deadline: MonotonicInstant? {
    var times = [joinDeadline, releaseDeadline, nextKeepalive, requests.deadline].compactMap { $0 }
    if state == .joined {
      for case .waiting(let time) in subscriptions.values.lazy.map(\.state) { times.append(time) }
    }
    return times.min()
  }

  /// Whether a request must be acknowledged soon.
  package var awaitsAcknowledgement: Bool { requests.acknowledgementDeadline != nil }

  /// Does what is due. It returns no events.
  ///
  /// - Parameter isConnectionUsable: false if nothing can be sent on the connection any more.
  package mutating func poll(now: MonotonicInstant, isConnectionUsable: Bool = true) -> JanusOutput {
    var output = JanusOutput()
    if let joinDeadline, joinDeadline <= now {
      // A session that is not continued in time is not claimed again.
      forgetSession()
      output.ending = .lost(reason: "The server did not let us join within \(configuration.joinTimeout).")
      return output
    }
    if let releaseDeadline, releaseDeadline <= now {
      forgetSession()
      output.ending = .lost(reason: "The server has released our place in the room.")
      return output
    }
    if let nextKeepalive, nextKeepalive <= now, state == .joined {
      self.nextKeepalive = now + configuration.keepaliveInterval
      request("keepalive", .keepalive, now: now, into: &output)
    }
    if state == .joined, let due = requests.acknowledgementDeadline, due <= now || !isConnectionUsable {
      output.ending = .unresponsive(
        reason: isConnectionUsable
          ? "The server did not acknowledge a request within \(Self.acknowledgementTimeout)."
          : "This machine does not have the address of the connection any more.")
      return output
    }
    for expired in requests.removeExpired(now: now) {
      if case .restart(let participant) = expired { subscriptions[participant]?.restart = .none }
      if case .repeatedRestart(let participant) = expired {
        restartPostponed(of: participant, now: now, into: &output)
      } else if let participant = expired.subscriber, subscriptions[participant]?.isConnected != true {
        output.note("The server did not respond about \(participant.text.printable()) within the time-out.")
        resubscribe(to: participant, now: now, into: &output)
      } else if let participant = expired.subscriber {
        // The connection that there is may still work.
        output.note("The server did not confirm an answer to \(participant.text.printable()) within the time-out.")
        subscriptions[participant]?.forgetUnconfirmedAnswer()
        if subscriptions[participant]?.restart == .wanted {
          requestRestart(of: participant, isRepeated: false, now: now, into: &output)
        }
      } else if expired.isEssential, state != .leaving {
        output.ending = .lost(reason: "The server did not respond within \(configuration.responseTimeout).")
      } else if expired.isRestart {
        output.note("The server did not respond to the request for an ICE restart within the time-out.")
      }
    }
    if state == .joined { subscribeAgain(now: now, into: &output) }
    return output
  }

  // MARK: Messages

  package mutating func received(_ message: JanusMessage, now: MonotonicInstant) -> JanusOutput {
    var output = JanusOutput()
    switch message {
    case .ack(let transaction):
      requests.acknowledged(transaction)
    case .success(let transaction, let id):
      guard let kind = requests.remove(transaction) else {
        ignore("There is no request for a response.", into: &output)
        break
      }
      succeeded(kind, id: id, now: now, into: &output)
    case .error(let error, let transaction):
      guard let kind = transaction.flatMap({ requests.remove($0) }) else {
        ignore("An error belongs to no request: \(error)", into: &output)
        break
      }
      failed(kind, error, now: now, into: &output)
    case .plugin(let event, let handle, let transaction, let description):
      let kind = transaction.flatMap { requests.remove($0) }
      if case .failed(let error) = event {
        if let kind { failed(kind, error, now: now, into: &output) } else { output.warn("\(error)") }
      } else if handle == roomHandle {
        roomEvent(event, response: kind, description: description, now: now, into: &output)
      } else {
        subscriptionEvent(
          event, handle: handle, response: kind, description: description, now: now, into: &output)
      }
    case .trickle(let candidate, let handle):
      guard let participant = participant(of: handle), let trickled = candidate.trickled else {
        ignore("A candidate belongs to no connection.", into: &output)
        break
      }
      let message =
        handle == roomHandle
        ? .candidate(trickled) : subscriptions[participant]?.offers.received(trickled)
      if let message { output.events.append(.message(message, from: participant)) }
    case .connected(let handle):
      connected(handle: handle, now: now)
    case .hangup(let handle, let reason):
      hungUp(handle: handle, reason: reason, now: now, into: &output)
    case .detached(let handle):
      detached(handle: handle, now: now, into: &output)
    case .media(let handle, let type, let isReceived):
      if handle == roomHandle, !isReceived {
        output.note("The server receives no \(type.printable(utf8Bytes: 20)) from us.")
      }
    case .slowLink(_, let isUplink, let lost):
      output.note("The server reports \(lost) packets lost \(isUplink ? "from us" : "to us").")
    case .timeout(let session):
      guard session == nil || session == sessionID else { break }
      forgetSession()
      output.ending = .lost(reason: "The server has ended the session, because it heard no keep-alive.")
    case .other(let kind):
      ignore("A message of the kind \"\(kind.printable(utf8Bytes: 40))\" has no meaning here.", into: &output)
    }
    return output
  }

  mutating func ignore(_ sentence: String, into output: inout JanusOutput) {
    ignoredCount &+= 1
    output.note(sentence)
  }

  // MARK: Requests

  mutating func send(
    _ request: JanusRequest, _ kind: JanusRequests.Kind, timeout: Duration? = nil, mustBeAcknowledged: Bool = false,
    now: MonotonicInstant, into output: inout JanusOutput
  ) {
    var request = request
    request.transaction = requests.add(
      kind, deadline: now + (timeout ?? configuration.responseTimeout),
      acknowledgementDeadline: mustBeAcknowledged ? now + Self.acknowledgementTimeout : nil)
    request.sessionID = sessionID
    request.apiSecret = configuration.apiSecret
    request.token = configuration.token
    output.requests.append(request)
  }

  mutating func request(
    _ name: String, _ kind: JanusRequests.Kind, now: MonotonicInstant, into output: inout JanusOutput
  ) {
    send(JanusRequest(name), kind, now: now, into: &output)
  }

  mutating func send(
    _ body: JanusRequest.Body, to handle: UInt64, _ kind: JanusRequests.Kind, description: JanusDescription? = nil,
    timeout: Duration? = nil, mustBeAcknowledged: Bool = false, now: MonotonicInstant,
    into output: inout JanusOutput
  ) {
    var request = JanusRequest("message")
    request.handleID = handle
    request.body = body
    request.jsep = description
    send(request, kind, timeout: timeout, mustBeAcknowledged: mustBeAcknowledged, now: now, into: &output)
  }

  mutating func detach(_ handle: UInt64, now: MonotonicInstant, into output: inout JanusOutput) {
    handles[handle] = nil
    var request = JanusRequest("detach")
    request.handleID = handle
    send(request, .unimportant, now: now, into: &output)
  }

  // MARK: Participants

  static func participantID(of feed: JanusID) -> ParticipantID { ParticipantID("feed-\(feed)") }

  func participant(of handle: UInt64) -> ParticipantID? {
    handle == roomHandle ? publication?.participant : handles[handle]
  }
}
