import HTTPTransport
import Media
import NIOCore
import NIOHTTP1
import Signalling
import TestSupport
import Testing
import WHIP

/// Drives a session and answers its requests by hand.
struct ManualSession {
  var session: WHIPSession
  var now = MonotonicInstant.now
  var requests: [(number: Int, request: HTTPRequest)] = []
  var events: [SignallingEvent] = []
  var log: [String] = []

  init(
    _ role: WHIPClient.Role = .publisher, token: String? = nil, url: String = "https://whip.example/live/1",
    followsOtherOrigins: Bool = false
  ) throws {
    var options = WHIPClient.Options()
    options.followsOtherOrigins = followsOtherOrigins
    options.token = try token.map { try BearerToken($0) }
    session = WHIPSession(role, endpoint: try HTTPURL(url), options: options, generator: SeededGenerator(seed: 1))
  }

  mutating func perform(_ actions: [WHIPSession.Action]) {
    for action in actions {
      switch action {
      case .send(let number, let request): requests.append((number, request))
      case .deliver(let event): events.append(event)
      case .log(_, let text): log.append(text)
      }
    }
  }

  mutating func send(_ message: SignallingMessage) {
    perform(session.send(message, to: session.participant.id, now: now))
  }

  /// Responds to the newest request.
  mutating func respond(
    _ status: UInt, _ headers: HTTPHeaders = [:], body: String = "", from scope: NetworkScope = .loopback
  ) throws {
    let number = try #require(requests.last?.number)
    respond(to: number, status, headers, body: body, from: scope)
  }

  mutating func respond(
    to number: Int, _ status: UInt, _ headers: HTTPHeaders = [:], body: String = "",
    from scope: NetworkScope = .loopback
  ) {
    var response = HTTPResponse(
      status: HTTPResponseStatus(statusCode: Int(status)), headers: headers, body: ByteBuffer(string: body))
    response.scope = scope
    perform(session.responded(to: number, .success(response), now: now))
  }

  mutating func fail(_ error: HTTPError) throws {
    let number = try #require(requests.last?.number)
    perform(session.responded(to: number, .failure(error), now: now))
  }

  mutating func created(
    _ headers: HTTPHeaders = [:], answer: String = Sample.answer(), from scope: NetworkScope = .loopback
  ) throws {
    var all: HTTPHeaders = ["Content-Type": "application/sdp", "Location": "/sessions/7", "ETag": "\"xyzzy\""]
    all.add(contentsOf: headers)
    try respond(201, all, body: answer, from: scope)
  }

  /// Moves the clock to the next deadline.
  mutating func advance() throws {
    now = try #require(session.deadline)
    perform(session.timePassed(now: now))
  }

  var last: HTTPRequest? { requests.last?.request }
  var lastBody: String { last?.body.map { String(buffer: $0) } ?? "" }
  var participant: ParticipantID { session.participant.id }
}
