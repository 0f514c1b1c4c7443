internal import Media
internal import Signalling

/// The way into the room, and the responses on it.
extension JanusSession {
  mutating func create(now: MonotonicInstant, into output: inout JanusOutput) {
    forgetSession()
    state = .creating
    request("create", .create, now: now, into: &output)
  }

  /// Forgets a session that the server does not know any more. Its participants are reported as gone when we have
  /// joined again without them.
  mutating func forgetSession() {
    formerParticipants += subscriptions.keys
    if let publication { formerParticipants.append(publication.participant) }
    subscriptions = [:]
    handles = [:]
    publication = nil
    sessionID = nil
    roomHandle = nil
    releaseDeadline = nil
  }

  mutating func succeeded(
    _ kind: JanusRequests.Kind, id: UInt64?, now: MonotonicInstant, into output: inout JanusOutput
  ) {
    switch kind {
    case .create:
      guard let id, state == .creating else { return missingID(into: &output) }
      sessionID = id
      state = .attaching
      attach(.attachRoom, now: now, into: &output)
    case .attachRoom:
      guard let id, state == .attaching else { return missingID(into: &output) }
      roomHandle = id
      state = .joining
      join(now: now, into: &output)
    case .claim:
      guard state == .claiming, let roomHandle else { return }
      state = .listing
      var body = JanusRequest.Body("listparticipants")
      body.room = configuration.room
      send(body, to: roomHandle, .list, now: now, into: &output)
    case .attach(let participant):
      attached(id, of: participant, now: now, into: &output)
    case .destroy:
      output.ending = .left
    case .join, .list, .publish, .republish, .unpublish, .subscribe, .start, .update, .restart, .repeatedRestart,
      .chooseLayers, .keepalive, .unimportant:
      break
    }
  }

  mutating func failed(
    _ kind: JanusRequests.Kind, _ error: JanusError, now: MonotonicInstant, into output: inout JanusOutput
  ) {
    if state == .joined,
      error.code == JanusError.sessionNotFound
        || kind.isPublishing && error.code == JanusError.handleNotFound
    {
      forgetSession()
      output.ending = .lost(reason: error.description)
      return
    }
    switch kind {
    case .claim, .list:
      // The server has forgotten the session, or does not know how to continue one.
      guard state == .claiming || state == .listing else { return }
      if kind == .list { request("destroy", .unimportant, now: now, into: &output) }
      create(now: now, into: &output)
    case .create, .attachRoom, .join:
      output.ending = error.permanent.map { .permanent($0) } ?? .lost(reason: error.description)
    case .keepalive:
      forgetSession()
      output.ending = .lost(reason: error.description)
    case .destroy:
      output.ending = .left
    case .publish(let participant), .republish(let participant), .unpublish(let participant):
      // An error of a former publication may come late.
      guard participant == publication?.participant else { return output.note("\(error)") }
      switch kind {
      case .publish: publishingFailed(error, into: &output)
      case .republish: republishingFailed(error, into: &output)
      default: publishingEnded(reason: "\(error)", now: now, into: &output)
      }
    case .restart(let participant), .repeatedRestart(let participant):
      restartFailed(of: participant, error, now: now, into: &output)
    case .attach(let participant), .subscribe(let participant), .start(let participant):
      subscribingFailed(to: participant, error, now: now, into: &output)
    case .update, .chooseLayers, .unimportant:
      output.note("\(error)")
    }
  }

  private func missingID(into output: inout JanusOutput) {
    output.ending = .permanent(.rejected("The server does not respond as Janus does: an id is missing."))
  }

  mutating func attach(
    _ kind: JanusRequests.Kind, now: MonotonicInstant, into output: inout JanusOutput
  ) {
    var request = JanusRequest("attach")
    request.plugin = "janus.plugin.videoroom"
    send(request, kind, now: now, into: &output)
  }

  private mutating func join(now: MonotonicInstant, into output: inout JanusOutput) {
    guard let roomHandle else { return }
    var body = JanusRequest.Body("join")
    body.ptype = "publisher"
    body.room = configuration.room
    body.display = configuration.display
    body.pin = configuration.pin
    body.token = configuration.roomToken
    send(body, to: roomHandle, .join, now: now, into: &output)
  }

  /// Handles the join of a new session.
  mutating func joined(
    as id: JanusID, privateID: UInt64?, feeds: [JanusFeedInfo], now: MonotonicInstant,
    into output: inout JanusOutput
  ) {
    ourID = id
    self.privateID = privateID
    var others: [SignalledParticipant] = []
    if configuration.publishes { others.append(newPublication(now: now)) }
    for feed in feeds where configuration.receives {
      if let participant = add(feed, now: now, into: &output) { others.append(participant) }
    }
    let gone = formerParticipants.filter { subscriptions[$0] == nil }
    formerParticipants = []
    settle(as: id, others: others, gone: gone, now: now, into: &output)
  }

  /// Handles the list of those who publish, in a session that was claimed: calls in progress continue.
  mutating func listed(
    _ feeds: [JanusFeedInfo], now: MonotonicInstant, into output: inout JanusOutput
  ) {
    guard let ourID else { return create(now: now, into: &output) }
    let present = Set(feeds.map { Self.participantID(of: $0.id) })
    let gone = subscriptions.keys.filter { !present.contains($0) }
    for participant in gone { remove(participant, now: now, into: &output) }
    // What was asked or answered on the last connection may not have arrived.
    for (participant, subscription) in subscriptions {
      if !subscription.isSettled || subscription.handle != nil && !subscription.isConnected {
        resubscribe(to: participant, after: .zero, now: now, into: &output)
      } else if subscription.isConnected, subscription.restart != .none {
        requestRestart(of: participant, isRepeated: true, now: now, into: &output)
      }
    }
    for feed in feeds where configuration.receives { _ = add(feed, now: now, into: &output) }
    var others = subscriptions.map { Self.announcement(of: $1.info) }.sorted { $0.id.text < $1.id.text }
    if configuration.publishes { others.insert(continuedPublication(now: now, into: &output), at: 0) }
    settle(as: ourID, others: others, gone: [], now: now, into: &output)
  }

  private mutating func settle(
    as id: JanusID, others: [SignalledParticipant], gone: [ParticipantID], now: MonotonicInstant,
    into output: inout JanusOutput
  ) {
    state = .joined
    joinDeadline = nil
    nextKeepalive = now + configuration.keepaliveInterval
    output.events += gone.map { .participantLeft($0, isRejoinVerified: false) }
    output.events.append(.joined(id: Self.participantID(of: id), others: others))
  }
}
