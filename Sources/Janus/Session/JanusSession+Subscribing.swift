internal import Media
internal import Signalling

/// Subscriptions to feeds: each has a handle of its own, on which the server offers.
extension JanusSession {
  // MARK: Responses

  mutating func attached(
    _ handle: UInt64?, of participant: ParticipantID, now: MonotonicInstant, into output: inout JanusOutput
  ) {
    guard let handle, handle != roomHandle, handles[handle] == nil else {
      return ignore("The server assigns a handle that is missing or in use.", into: &output)
    }
    guard var subscription = subscriptions[participant], subscription.state == .attaching else {
      return detach(handle, now: now, into: &output)
    }
    handles[handle] = participant
    var body = JanusRequest.Body("join")
    body.ptype = "subscriber"
    body.room = configuration.room
    body.pin = configuration.pin
    body.privateID = privateID
    if let streams = JanusSubscription.wanted(of: subscription.info), !streams.isEmpty {
      body.streams = streams.map { .init(feed: subscription.info.id, mid: $0.mid) }
      subscription.feedMids = Set(streams.map(\.mid))
    } else {
      // The form of the series 0.x; later servers accept it too and choose all streams.
      body.feed = subscription.info.id
    }
    subscription.state = .joining(handle: handle)
    subscriptions[participant] = subscription
    send(body, to: handle, .subscribe(participant), now: now, into: &output)
  }

  mutating func subscriptionEvent(
    _ event: VideoRoomEvent, handle: UInt64, response: JanusRequests.Kind?, description: JanusDescription?,
    now: MonotonicInstant, into output: inout JanusOutput
  ) {
    guard let participant = handles[handle], var subscription = subscriptions[participant] else {
      return ignore("An event belongs to no handle of ours.", into: &output)
    }
    switch event {
    case .attached(let streams), .updated(let streams):
      subscription.videoMids = streams.filter { $0.type == "video" && !$0.isDisabled }.prefix(8).map(\.mid)
      subscription.descriptions = [:]
      for stream in streams.prefix(64) { subscription.descriptions[stream.mid] = stream.description }
    case .joined, .published, .unpublished, .left, .removed, .participants, .destroyed, .failed, .other:
      break
    }
    if let description {
      guard description.type == "offer" else {
        return ignore("The server answers on a subscription, where it should offer.", into: &output)
      }
      if subscription.restart == .requested { subscription.restart = .none }
      requests.removeRestarts(of: participant)
      subscription.state = .offered(handle: handle)
      subscription.unansweredOffers = min(subscription.unansweredOffers + 1, 8)
      output.events += subscription.offers.received(
        offer: description.sdp, descriptions: subscription.descriptions
      ).map { .message($0, from: participant) }
    } else if case .start = response, case .starting = subscription.state {
      subscription.state = .started(handle: handle)
      subscriptions[participant] = subscription
      chooseLayers(of: participant, now: now, into: &output)
      if subscription.restart == .wanted { requestRestart(of: participant, isRepeated: false, now: now, into: &output) }
      return
    }
    subscriptions[participant] = subscription
  }

  mutating func subscribingFailed(
    to participant: ParticipantID, _ error: JanusError, now: MonotonicInstant, into output: inout JanusOutput
  ) {
    guard subscriptions[participant] != nil else { return }
    if error.code == JanusError.noSuchFeed {
      output.note("\(error)")
      remove(participant, now: now, into: &output)
    } else {
      output.warn("The feed \(participant.text.printable()) cannot be received now: \(error)")
      resubscribe(to: participant, now: now, into: &output)
    }
  }

  // MARK: Answers and layers

  /// Sends our answer to the server's offer.
  mutating func start(
    _ sdp: String, of participant: ParticipantID, now: MonotonicInstant, into output: inout JanusOutput
  ) {
    guard var subscription = subscriptions[participant], case .offered(let handle) = subscription.state else {
      return output.note("An answer is discarded, because the server awaits none.")
    }
    subscription.unansweredOffers -= 1
    if subscription.unansweredOffers <= 0 { subscription.state = .starting(handle: handle) }
    subscriptions[participant] = subscription
    send(
      .init("start"), to: handle, .start(participant), description: .init(type: "answer", sdp: sdp), now: now,
      into: &output)
  }

  private mutating func chooseLayers(
    of participant: ParticipantID, now: MonotonicInstant, into output: inout JanusOutput
  ) {
    guard let subscription = subscriptions[participant], let handle = subscription.handle else { return }
    var body = JanusRequest.Body("configure")
    let (substream, temporal) = (configuration.substream, configuration.temporal)
    if subscription.info.streams == nil {
      body.substream = substream
      body.temporal = temporal
    } else if subscription.videoMids.isEmpty {
      return
    } else {
      body.streams = subscription.videoMids.map { .init(mid: $0, substream: substream, temporal: temporal) }
    }
    send(body, to: handle, .chooseLayers(participant), now: now, into: &output)
  }

  // MARK: Changes

  /// Follows a change of a feed's name or streams. Streams that are new are added to the subscription; for those that
  /// have ended, the server offers by itself.
  mutating func change(
    _ participant: ParticipantID, to feed: JanusFeedInfo, now: MonotonicInstant,
    into output: inout JanusOutput
  ) {
    guard var subscription = subscriptions[participant] else { return }
    if feed.streams != nil || subscription.info.streams == nil { subscription.info = feed }
    if let handle = subscription.handle, let former = subscription.feedMids, feed.streams != nil {
      let added = (JanusSubscription.wanted(of: feed) ?? []).map(\.mid).filter { !former.contains($0) }
      if !added.isEmpty {
        subscription.feedMids = former.union(added)
        var body = JanusRequest.Body("update")
        body.subscribe = added.map { .init(feed: feed.id, mid: $0) }
        send(body, to: handle, .update(participant), now: now, into: &output)
      }
    }
    subscriptions[participant] = subscription
  }

  /// Asks the server for an offer that restarts ICE. While another offer is being answered, that waits.
  ///
  /// - Parameter isRepeated: whether an earlier request may have been lost with its connection. If it was not, the server waits
  ///   for the answer to an offer that was lost, and offers nothing more.
  mutating func requestRestart(
    of participant: ParticipantID, isRepeated: Bool, now: MonotonicInstant, into output: inout JanusOutput
  ) {
    guard case .started(let handle) = subscriptions[participant]?.state else {
      subscriptions[participant]?.restart = .wanted
      return
    }
    subscriptions[participant]?.restart = .requested
    var body = JanusRequest.Body("configure")
    body.restart = true
    send(
      body, to: handle, isRepeated ? .repeatedRestart(participant) : .restart(participant),
      timeout: isRepeated ? Self.repeatedRestartTimeout : nil, mustBeAcknowledged: !isRepeated, now: now, into: &output)
  }

  /// Handles the refusal of a restart: the connection goes on over the present path, unless the server has none.
  mutating func restartFailed(
    of participant: ParticipantID, _ error: JanusError, now: MonotonicInstant, into output: inout JanusOutput
  ) {
    subscriptions[participant]?.restart = .none
    if error.code == JanusError.handleNotFound {
      subscribingFailed(to: participant, error, now: now, into: &output)
    } else {
      output.warn("The server does not restart ICE for \(participant.text.printable()): \(error)")
    }
  }

  /// Handles a repeated restart without an offer: subscribes again, because this connection gets no offers any more.
  mutating func restartPostponed(
    of participant: ParticipantID, now: MonotonicInstant, into output: inout JanusOutput
  ) {
    output.note("The server does not restart ICE for \(participant.text.printable()); we subscribe again.")
    resubscribe(to: participant, after: .zero, now: now, into: &output)
  }

  mutating func connected(handle: UInt64, now: MonotonicInstant) {
    if let participant = handles[handle] { subscriptions[participant]?.connectedSince = now }
  }

  mutating func hungUp(
    handle: UInt64, reason: String, now: MonotonicInstant, into output: inout JanusOutput
  ) {
    if handle == roomHandle { return publishingEnded(reason: reason, now: now, into: &output) }
    guard let participant = handles[handle] else { return }
    output.note(
      "The server hung up on \(participant.text.printable()) (\(reason.printable(utf8Bytes: 80))); we subscribe again.")
    resubscribe(to: participant, now: now, into: &output)
  }

  mutating func detached(handle: UInt64, now: MonotonicInstant, into output: inout JanusOutput) {
    if handle == roomHandle {
      releaseDeadline = releaseDeadline ?? now + Self.releaseDelay
      return
    }
    guard let participant = handles.removeValue(forKey: handle) else { return }
    requests.removeAll(of: participant)
    subscriptions[participant]?.retry(now: now)
  }

  // MARK: Attempts

  /// Releases the handle of a feed and schedules the next attempt.
  ///
  /// - Parameter delay: the wait; nil for one that grows from attempt to attempt.
  mutating func resubscribe(
    to participant: ParticipantID, after delay: Duration? = nil, now: MonotonicInstant,
    into output: inout JanusOutput
  ) {
    guard var subscription = subscriptions[participant] else { return }
    requests.removeAll(of: participant)
    if let handle = subscription.handle { detach(handle, now: now, into: &output) }
    subscription.retry(now: now)
    if let delay { subscription.state = .waiting(until: now + delay) }
    subscriptions[participant] = subscription
  }

  /// Subscribes to the feeds whose wait is over.
  mutating func subscribeAgain(now: MonotonicInstant, into output: inout JanusOutput) {
    for (participant, subscription) in subscriptions {
      guard case .waiting(let time) = subscription.state, time <= now else { continue }
      subscriptions[participant]?.state = .attaching
      attach(.attach(participant), now: now, into: &output)
    }
  }
}
