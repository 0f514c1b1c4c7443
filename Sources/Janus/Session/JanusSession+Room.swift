internal import Media
internal import Signalling

/// Events on the handle of our place in the room.
extension JanusSession {
  mutating func roomEvent(
    _ event: VideoRoomEvent, response: JanusRequests.Kind?, description: JanusDescription?,
    now: MonotonicInstant, into output: inout JanusOutput
  ) {
    if let description { publishingAnswered(description, response: response, into: &output) }
    switch event {
    case .joined(let id, let privateID, let feeds):
      guard state == .joining else { return ignore("The server repeats the join.", into: &output) }
      joined(as: id, privateID: privateID, feeds: feeds, now: now, into: &output)
    case .participants(let feeds):
      guard state == .listing, response == .list else { return ignore("The server lists participants.", into: &output) }
      listed(feeds.filter { $0.id != ourID }, now: now, into: &output)
    case .published(let feeds):
      guard state == .joined, configuration.receives else { return }
      for feed in feeds {
        if let participant = add(feed, now: now, into: &output) {
          output.events.append(.participantJoined(participant))
        }
      }
    case .unpublished(let id), .left(let id):
      guard state == .joined else { return }
      if id == ourID { return removed("The server removed us from the room.", into: &output) }
      let participant = Self.participantID(of: id)
      if subscriptions[participant] != nil { remove(participant, now: now, into: &output) }
    case .removed(let reason):
      removed("The server removed us from the room: \(reason.printable(utf8Bytes: 80)).", into: &output)
    case .destroyed:
      removed("The room was closed.", into: &output)
    case .attached, .updated, .failed, .other:
      break
    }
  }

  private mutating func removed(_ sentence: String, into output: inout JanusOutput) {
    guard state == .joined else { return }
    output.ending = .closed(reason: sentence)
  }

  /// Adds a feed, or follows a change of its streams.
  ///
  /// - Returns: the participant, if the feed is new.
  mutating func add(
    _ feed: JanusFeedInfo, now: MonotonicInstant, into output: inout JanusOutput
  ) -> SignalledParticipant? {
    guard feed.id != ourID else { return nil }
    let participant = Self.participantID(of: feed.id)
    guard subscriptions[participant] == nil else {
      change(participant, to: feed, now: now, into: &output)
      return nil
    }
    // A feed of data channels only, or one whose streams are paused, is added when it has media.
    if JanusSubscription.wanted(of: feed)?.isEmpty == true || feed.isPlaceholder { return nil }
    guard subscriptions.count < configuration.maximumParticipants else {
      output.warn("More than \(configuration.maximumParticipants) feeds are in the room; the others are ignored.")
      return nil
    }
    subscriptions[participant] = JanusSubscription(feed)
    attach(.attach(participant), now: now, into: &output)
    return Self.announcement(of: feed)
  }

  /// The maximum size of a participant's name in bytes; longer ones are cut.
  private static let maximumNameBytes = 256

  static func announcement(of feed: JanusFeedInfo) -> SignalledParticipant {
    SignalledParticipant(
      participantID(of: feed.id), name: feed.display?.prefix(utf8Bytes: maximumNameBytes), offerer: .remote,
      direction: .receiveOnly, forwardsMedia: true)
  }

  /// Removes a feed, reports it and releases its handle.
  mutating func remove(
    _ participant: ParticipantID, now: MonotonicInstant, into output: inout JanusOutput
  ) {
    guard let subscription = subscriptions.removeValue(forKey: participant) else { return }
    requests.removeAll(of: participant)
    if let handle = subscription.handle { detach(handle, now: now, into: &output) }
    output.events.append(.participantLeft(participant, isRejoinVerified: false))
  }
}
