/// What the VideoRoom plugin reports to a handle.
package enum VideoRoomEvent: Sendable, Hashable {
  /// We joined the room: our id, the private id that links our subscriptions to us, and the feeds in the room.
  case joined(id: JanusID, privateID: UInt64?, feeds: [JanusFeedInfo])
  /// A subscription was made; its offer comes in the same message.
  case attached([JanusStreamInfo])
  /// A subscription changed; the message contains a new offer if one is needed.
  case updated([JanusStreamInfo])
  /// Feeds are new, or their streams have changed.
  case published([JanusFeedInfo])
  /// A feed is no longer published.
  case unpublished(JanusID)
  /// A participant left or was removed by a moderator.
  case left(JanusID)
  /// We are no longer in the room, although we did not request that.
  case removed(reason: String)
  /// The answer to `listparticipants`; only those who publish.
  case participants([JanusFeedInfo])
  /// The room no longer exists.
  case destroyed
  case failed(JanusError)
  /// A confirmation of a request, or an event without meaning for us.
  case other
}

/// A feed, as the VideoRoom plugin describes it.
package struct JanusFeedInfo: Sendable, Hashable {
  package var id: JanusID
  /// The name for people.
  package var display: String?
  /// The streams of the feed; nil from a server of the series 0.x, which has feeds without streams.
  package var streams: [JanusStreamInfo]?
  /// Whether nobody publishes it: the server has it for the negotiation of streams that come later.
  package var isPlaceholder: Bool

  package init(
    id: JanusID, display: String? = nil, streams: [JanusStreamInfo]? = nil, isPlaceholder: Bool = false
  ) {
    self.id = id
    self.display = display
    self.streams = streams
    self.isPlaceholder = isPlaceholder
  }
}

/// A stream of a feed or of a subscription.
package struct JanusStreamInfo: Sendable, Hashable {
  /// `audio`, `video` or `data`.
  package var type: String
  package var mid: String
  /// Whether the stream is not sent at present.
  package var isDisabled: Bool

  /// What the publisher says of the stream, for example that it is a screen; printable.
  package var description: String?

  package init(type: String, mid: String, isDisabled: Bool = false, description: String? = nil) {
    self.description = description
    self.type = type
    self.mid = mid
    self.isDisabled = isDisabled
  }
}
