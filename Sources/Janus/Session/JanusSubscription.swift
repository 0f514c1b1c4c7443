internal import Media

/// Our subscription to one feed.
struct JanusSubscription: Sendable {
  /// ```
  ///   attaching ──► joining ──► offered ──► starting ──► started
  ///       ▲            │           │  ▲        │            │ │
  ///       │            ▼           ▼  └────────┴────────────┘ │ a new offer
  ///       └───────── waiting ◄────────────────────────────────┘ an error, a hang-up, silence
  /// ```
  enum State: Sendable, Hashable {
    /// A handle was requested.
    case attaching
    /// The subscription was requested.
    case joining(handle: UInt64)
    /// The server's offer waits for our answer.
    case offered(handle: UInt64)
    /// Our answer was sent.
    case starting(handle: UInt64)
    /// The server has confirmed our answer.
    case started(handle: UInt64)
    /// The next attempt follows at this time.
    case waiting(until: MonotonicInstant)
  }

  /// An ICE restart that the server has not offered yet. Janus postpones one that is requested while it waits for our answer
  /// to another offer, says so to nobody, and offers it after the answer.
  enum Restart: Sendable, Hashable {
    case none
    /// It is requested when the server's present offer is answered.
    case wanted
    case requested
  }

  var info: JanusFeedInfo
  var state = State.attaching
  /// The `mid`s of the feed's streams that we subscribed to; nil if the server chose.
  var feedMids: Set<String>?
  /// The `mid`s of the video streams in our subscription, for the choice of their layers.
  var videoMids: [String] = []
  /// What the publisher says of each stream in our subscription, by its `mid`.
  var descriptions: [String: String] = [:]
  /// What the server sends on the present handle.
  var offers = JanusOffers()
  /// The number of offers that the peer has not answered yet.
  var unansweredOffers = 0
  /// The ICE restart that the peer wants.
  var restart = Restart.none
  /// The wait before the next attempt.
  var retryDelay = Self.minimumRetryDelay
  /// When the WebRTC connection was established.
  var connectedSince: MonotonicInstant?

  static let minimumRetryDelay = Duration.seconds(1)
  static let maximumRetryDelay = Duration.seconds(30)
  /// A connection that lasted this long resets the wait.
  static let lasting = Duration.seconds(10)

  init(_ info: JanusFeedInfo) {
    self.info = info
  }

  var handle: UInt64? {
    switch state {
    case .attaching, .waiting: nil
    case .joining(let handle), .offered(let handle), .starting(let handle), .started(let handle): handle
    }
  }

  /// Whether the subscription works and no request for it is unanswered.
  var isSettled: Bool {
    switch state {
    case .started, .waiting: true
    case .attaching, .joining, .offered, .starting: false
    }
  }

  /// Whether there is a WebRTC connection, which may be worth a restart of ICE.
  var isConnected: Bool { handle != nil && connectedSince != nil }

  /// Forgets that the server has not confirmed our answer.
  mutating func forgetUnconfirmedAnswer() {
    guard let handle else { return }
    state = .started(handle: handle)
    unansweredOffers = 0
  }

  /// Notes that the peer has ended the connection, so that it cannot be continued in a claimed session.
  mutating func connectionEnded() {
    connectedSince = nil
    restart = .none
    if let handle { state = .starting(handle: handle) }
  }

  /// Returns the streams to subscribe to: all audio and video that is sent, up to as many as one connection carries. Nil for a
  /// server of the series 0.x, which has feeds without streams.
  static func wanted(of info: JanusFeedInfo) -> [JanusStreamInfo]? {
    guard let streams = info.streams else { return nil }
    let media = streams.filter { MediaKind(rawValue: $0.type) != nil && !$0.isDisabled }
    return Array(media.prefix(TrackID.maximumStreams))
  }

  /// Schedules the next attempt.
  mutating func retry(now: MonotonicInstant) {
    if let connectedSince, now - connectedSince >= Self.lasting { retryDelay = Self.minimumRetryDelay }
    connectedSince = nil
    state = .waiting(until: now + retryDelay)
    retryDelay = min(retryDelay * 2, Self.maximumRetryDelay)
    feedMids = nil
    videoMids = []
    descriptions = [:]
    unansweredOffers = 0
    restart = .none
    offers = JanusOffers()
  }
}
