import Janus
import Media
import Signalling
import Testing

/// A session in a simulated room: it answers the session's requests as Janus 1.1.2 does, and advances a manual clock.
struct SimulatedRoom {
  var session: JanusSession
  var now = MonotonicInstant.now
  /// What the session sent and has not been looked at, in order.
  var requests: [JanusRequest] = []
  var events: [SignallingEvent] = []
  var problems: [JanusOutput.Problem] = []
  var ending: JanusOutput.Ending?
  /// The ids that the server has assigned to the session and to its place in the room; 0 as long as there is none.
  private(set) var sessionID: UInt64 = 0
  private(set) var roomHandle: UInt64 = 0
  private var lastID: UInt64 = 100

  init(_ configure: (inout JanusSession.Configuration) -> Void = { _ in }) {
    var configuration = JanusSession.Configuration(room: .number(1234))
    configure(&configuration)
    session = JanusSession(configuration: configuration)
  }

  static let alice = JanusFeedInfo(
    id: .number(11), display: "alice",
    streams: [.init(type: "audio", mid: "0"), .init(type: "video", mid: "1")])
  static let bob = JanusFeedInfo(
    id: .number(22), display: "bob", streams: [.init(type: "audio", mid: "0"), .init(type: "video", mid: "1")])

  // MARK: Inputs

  mutating func take(_ output: JanusOutput) {
    requests += output.requests
    events += output.events
    problems += output.problems
    ending = output.ending ?? ending
  }

  mutating func receive(_ message: JanusMessage) { take(session.received(message, now: now)) }

  mutating func advance(_ duration: Duration) {
    now += duration
    take(session.poll(now: now))
  }

  mutating func send(_ message: SignallingMessage, to participant: ParticipantID) {
    take(session.send(message, to: participant, now: now))
  }

  /// Takes the next request, which must be of this kind.
  mutating func next(_ janus: String, _ request: String? = nil) throws -> JanusRequest {
    let first = try #require(requests.first)
    requests.removeFirst()
    #expect(first.janus == janus)
    #expect(first.body?.request == request)
    return first
  }

  mutating func takeEvents() -> [SignallingEvent] {
    defer { events = [] }
    return events
  }

  /// Returns the participant for whom the session takes a handle, by the sender of a candidate that arrives there.
  mutating func participant(at handle: UInt64) -> ParticipantID? {
    let earlier = takeEvents()
    receive(.trickle(JanusCandidate(TrickledCandidate(candidate: "candidate:1", mid: "0")), handle: handle))
    defer { events = earlier }
    guard case .message(.candidate, let sender)? = events.first else { return nil }
    return sender
  }

  // MARK: The server's side

  /// Answers a `create` or an `attach`.
  @discardableResult
  mutating func succeed(_ request: JanusRequest) -> UInt64 {
    lastID += 1
    switch request.janus {
    case "create": (sessionID, roomHandle) = (lastID, 0)
    case "attach" where roomHandle == 0: roomHandle = lastID
    default: break
    }
    receive(.success(transaction: request.transaction, id: lastID))
    return lastID
  }

  mutating func answer(_ request: JanusRequest, _ event: VideoRoomEvent, _ description: JanusDescription? = nil) {
    receive(.ack(transaction: request.transaction))
    receive(
      .plugin(
        event, handle: request.handleID ?? 0, transaction: request.transaction, description: description))
  }

  mutating func report(_ event: VideoRoomEvent, handle: UInt64? = nil, offer: String? = nil) {
    receive(
      .plugin(
        event, handle: handle ?? roomHandle, transaction: nil,
        description: offer.map { JanusDescription(type: "offer", sdp: $0) }))
  }

  /// Opens a connection and joins.
  mutating func join(feeds: [JanusFeedInfo] = []) throws {
    take(session.opened(now: now))
    succeed(try next("create"))
    succeed(try next("attach"))
    answer(try next("message", "join"), .joined(id: .number(1), privateID: 5, feeds: feeds))
  }

  /// Answers the requests of a subscription up to the server's offer.
  ///
  /// - Returns: the handle.
  @discardableResult
  mutating func offer(_ sdp: String = "v=0\r\no=- 7 1 IN IP4 192.0.2.1\r\n") throws -> UInt64 {
    let handle = succeed(try next("attach"))
    answer(
      try next("message", "join"),
      .attached([.init(type: "audio", mid: "0"), .init(type: "video", mid: "1")]),
      JanusDescription(type: "offer", sdp: sdp))
    return handle
  }

  /// Answers the requests of a subscription until it is established.
  @discardableResult
  mutating func subscribe(_ participant: ParticipantID) throws -> UInt64 {
    let handle = try offer()
    send(.answer("v=0 answer"), to: participant)
    answer(try next("message", "start"), .other)
    answer(try next("message", "configure"), .other)
    receive(.connected(handle: handle))
    return handle
  }
}
