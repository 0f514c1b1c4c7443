package import HTTPTransport
package import Logging
package import Media
import NIOCore
import NIOHTTP1
package import Signalling

/// A session with a WHIP or WHEP server: messages of the peer and responses in, requests and events out. Pure.
///
/// ```
///           offer              201: answer
///   ready ─────────► posting ──────────────► open ◄───────────────┐
///     ▲                │ ▲ │ 406: offer        │ │ other           │ 200: answer
///     │            5xx │ │ └──► answering      │ └ credentials ► restarting
///     │                ▼ │        │ answer     │                    │ refused: DELETE, POST
///     │       waitingToPost       ▼            │                    ▼
///     │                    sendingAnswer       │ 404             posting
///     │                                        ▼
///     └──────────────────────────── waitingToReturn
/// ```
/// A permanent refusal ends it in every state, and so does ``leave()``, which deletes the session at the server.
package struct WHIPSession: Sendable {
  /// What the owner has to do, in order.
  package enum Action: Sendable {
    /// Send the request, and report its result with its number.
    case send(Int, HTTPRequest)
    case deliver(SignallingEvent)
    case log(Logger.Level, String)
  }

  /// The session as the server knows it.
  struct Resource {
    /// Where candidates, restarts and the end are sent; nil if the server named no place.
    var url: HTTPURL?
    /// Identifies the ICE session (RFC 9725, 4.3.1).
    var entityTag: String?
    /// Our description: the offer, or our answer to the server's offer.
    var local: String
    /// The server's description.
    var remote: String
    /// The scope of the address that named the place.
    var scope = NetworkScope.loopback
  }

  /// The fingerprints of both sides.
  struct Certificates {
    var local: [String]
    var remote: Set<String>

    init(_ resource: Resource) {
      local = SDPOutline(resource.local).fingerprints
      remote = Set(SDPOutline(resource.remote).fingerprints)
    }
  }

  enum State {
    case ready
    case posting(request: Int, url: HTTPURL, redirects: Int, offer: String)
    case waitingToPost(offer: String)
    case answering(Resource)
    case sendingAnswer(request: Int, Resource)
    case open(Resource)
    case restarting(request: Int, Resource, offer: String)
    case waitingToReturn
    /// We leave; the response to an offer is still awaited, because it names the session to delete.
    case leaving(request: Int, url: HTTPURL)
    case ended
  }

  static let maximumRedirects = 5
  static let maximumWaitingCandidates = 256

  package let role: WHIPClient.Role
  package let endpoint: HTTPURL
  package let participant: SignalledParticipant
  let options: WHIPClient.Options
  var state = State.ready
  /// The session that another one of the same connection replaces; nil if there is none.
  var replaced: Certificates?
  /// The newest offer, made while a request is in progress.
  var nextOffer: String?
  /// The waits. A connection is a session at the server, and an attempt to connect is a POST. In contrast to the other systems,
  /// the peer's messages are handled during a wait, the peer may replace a session that is not lost, and one that the server has
  /// ended is reported as a participant who leaves and returns. So the session carries the steps out by itself.
  var reconnection: ReconnectionState
  // Trickled candidates.
  var waitingCandidates: [TrickledCandidate] = []
  var sendsCandidatesAt: MonotonicInstant?
  var trickleRequest: Int?
  var isTrickling = true
  /// Requests whose response only shows that the server received them.
  var closingRequests: Set<Int> = []
  private var lastRequest = 0

  package init(
    _ role: WHIPClient.Role, endpoint: HTTPURL, options: WHIPClient.Options,
    generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) {
    self.role = role
    self.endpoint = endpoint
    self.options = options
    participant = SignalledParticipant(
      ParticipantID(endpoint.host), name: "\(role) server \(endpoint.host)", offerer: .local,
      direction: role == .publisher ? .sendOnly : .receiveOnly,
      // Nothing is received from a server that we publish to, so the connection continues when the server is another one.
      isIdentityVerified: role == .publisher, forwardsMedia: role == .player)
    reconnection = ReconnectionState(
      .init(
        minimumDelay: options.minimumRetryDelay, maximumDelay: options.maximumRetryDelay,
        resetAge: options.backoffResetAge),
      generator: generator)
  }

  /// Our own id; the protocol assigns none.
  package static let ownID = ParticipantID("local")

  /// The first events.
  package func joined() -> [Action] {
    [.deliver(.joined(id: Self.ownID, others: [participant]))]
  }

  /// Whether the session has ended and every request that ends it at the server has its response.
  package var isFinished: Bool {
    if case .ended = state { closingRequests.isEmpty } else { false }
  }

  /// When ``timePassed(now:)`` has something to do.
  package var deadline: MonotonicInstant? {
    switch state {
    case .waitingToPost, .waitingToReturn: reconnection.deadline
    case .open: trickleRequest == nil ? sendsCandidatesAt : nil
    default: nil
    }
  }

  // MARK: Messages of the peer

  package mutating func send(
    _ message: SignallingMessage, to participant: ParticipantID, now: MonotonicInstant
  ) -> [Action] {
    guard participant == self.participant.id else {
      return [.log(.debug, "A message is discarded, because its participant is not the \(role) server.")]
    }
    switch message {
    case .offer(let sdp):
      // Candidates that wait belong to the previous offer.
      if !isAnswered(sdp) { waitingCandidates = [] }
      return offer(sdp, now: now)
    case .answer(let sdp): return answer(sdp)
    case .candidate(let candidate):
      add(candidate, now: now)
      return []
    }
  }

  /// Whether the answer to the current offer is, or will be, the answer to this one too. A peer offers again when it
  /// hears that we have joined again; WHIP cannot negotiate again.
  private func isAnswered(_ sdp: String) -> Bool {
    switch state {
    case .posting(_, _, _, let offer), .restarting(_, _, let offer), .waitingToPost(let offer):
      ICERestart.isRepetition(of: nextOffer ?? offer, by: sdp)
    case .open(let resource): ICERestart.isRepetition(of: resource.local, by: sdp)
    default: false
    }
  }

  mutating func offer(_ sdp: String, now: MonotonicInstant) -> [Action] {
    switch state {
    case .ready:
      return post(sdp)
    case .waitingToReturn:
      return [.log(.debug, "An offer is discarded, because its session has ended.")]
    case .waitingToPost:
      state = .waitingToPost(offer: sdp)
      return []
    case .posting, .sendingAnswer, .restarting:
      if !isAnswered(sdp) { nextOffer = sdp }
      return []
    case .answering(let resource):
      return replace(resource, offer: sdp)
    case .open(let resource):
      if isAnswered(sdp) { return [.deliver(.message(.answer(resource.remote), from: participant.id))] }
      return resource.url != nil && ICERestart.isRestart(from: resource.local, to: sdp)
        ? restart(resource, offer: sdp) : replace(resource, offer: sdp)
    case .leaving, .ended:
      return []
    }
  }

  private mutating func answer(_ sdp: String) -> [Action] {
    guard case .answering(var resource) = state, let url = resource.url else {
      return [.log(.debug, "An answer is discarded, because the \(role) server made no offer.")]
    }
    resource.local = sdp
    resource.remote = ICERestart.answer(fromOffer: resource.remote, answeredBy: sdp)
    let (number, action) = request(.PATCH, url, type: "application/sdp", body: sdp, scope: resource.scope)
    state = .sendingAnswer(request: number, resource)
    return [action]
  }

  // MARK: Time

  package mutating func timePassed(now: MonotonicInstant) -> [Action] {
    switch state {
    case .waitingToPost(let offer):
      guard case .connect = reconnection.next(now: now) else { return [] }
      return post(offer)
    case .waitingToReturn:
      guard case .connect = reconnection.next(now: now) else { return [] }
      state = .ready
      return [.deliver(.participantJoined(participant))]
    case .open(let resource): return sendCandidates(of: resource, now: now)
    default: return []
    }
  }

  // MARK: Leaving

  /// Deletes the session at the server. ``isFinished`` tells when the server knows.
  package mutating func leave() -> [Action] {
    nextOffer = nil
    waitingCandidates = []
    reconnection.leave()
    switch state {
    case .posting(let number, let url, _, _):
      state = .leaving(request: number, url: url)
      return []
    case .answering(let resource), .sendingAnswer(_, let resource), .open(let resource),
      .restarting(_, let resource, _):
      state = .ended
      return delete(resource)
    case .ready, .waitingToPost, .waitingToReturn:
      state = .ended
      return []
    case .leaving, .ended:
      return []
    }
  }

  // MARK: Requests

  mutating func request(
    _ method: HTTPMethod, _ url: HTTPURL, type: String? = nil, ifMatch: String? = nil, body: String? = nil,
    timeout: Duration? = nil, needsNewConnection: Bool = false, scope: NetworkScope = .loopback
  ) -> (number: Int, action: Action) {
    lastRequest += 1
    var request = HTTPRequest(method, url, timeout: timeout ?? options.responseTimeout)
    request.needsNewConnection = needsNewConnection
    request.narrowestScope = scope
    if let type { request.headers.add(name: "Content-Type", value: type) }
    if method == .POST { request.headers.add(name: "Accept", value: "application/sdp") }
    if let ifMatch { request.headers.add(name: "If-Match", value: ifMatch) }
    if let token = options.token, url.hasSameOrigin(as: endpoint) {
      request.headers.add(name: "Authorization", value: token.headerValue)
    }
    request.body = body.map { .init(string: $0) }
    return (lastRequest, .send(lastRequest, request))
  }

  /// - Parameter scope: the scope of the address that named the URL.
  mutating func post(
    _ offer: String, to url: HTTPURL? = nil, redirects: Int = 0, scope: NetworkScope = .loopback
  ) -> [Action] {
    let url = url ?? endpoint
    trickleRequest = nil
    let (number, action) = request(.POST, url, type: "application/sdp", body: offer, scope: scope)
    state = .posting(request: number, url: url, redirects: redirects, offer: offer)
    return [action]
  }

  private mutating func restart(_ resource: Resource, offer: String) -> [Action] {
    guard let url = resource.url, let fragment = SDPFragment(restartingWith: offer) else {
      return replace(resource, offer: offer)
    }
    trickleRequest = nil
    // The reason for a restart may be that the address of the connection to the server has vanished, too.
    let (number, action) = request(
      .PATCH, url, type: SDPFragment.mediaType, ifMatch: "*", body: fragment.text, needsNewConnection: true,
      scope: resource.scope)
    state = .restarting(request: number, resource, offer: offer)
    return [action]
  }

  /// Makes a new session for an offer.
  mutating func replace(_ resource: Resource, isGone: Bool = false, offer: String) -> [Action] {
    replaced = Certificates(resource)
    reconnection.connectionReplaced()
    return (isGone ? [] : delete(resource)) + post(offer)
  }

  mutating func delete(_ resource: Resource) -> [Action] {
    guard let url = resource.url else { return [] }
    let (number, action) = request(.DELETE, url, timeout: options.leaveTimeout, scope: resource.scope)
    closingRequests.insert(number)
    return [action]
  }
}
