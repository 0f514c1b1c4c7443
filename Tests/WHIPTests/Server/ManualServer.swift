import HTTPTransport
import Media
import NIOCore
import NIOHTTP1
import Signalling
import TestSupport
import Testing
import WHIP

/// Sends requests to a server and keeps what it responds.
struct ManualServer {
  var server: WHIPServer
  var now = NIODeadline.uptimeNanoseconds(1_000_000_000)
  var responses: [Int: HTTPResponse] = [:]
  var events: [WHIPServer.Event] = []
  private var lastNumber = 0

  static let sdp = "application/sdp"
  static let fragment = "application/trickle-ice-sdpfrag"

  init() { self.init { _ in } }

  init(_ change: (inout WHIPServer.Options) throws -> Void) rethrows {
    var options = WHIPServer.Options()
    try change(&options)
    server = WHIPServer(options: options, generator: SeededGenerator(seed: 7))
  }

  mutating func perform(_ outcomes: [WHIPServer.Outcome]) {
    for outcome in outcomes {
      switch outcome {
      case .respond(let number, let response):
        #expect(responses[number] == nil, "A request has two responses.")
        responses[number] = response
      case .event(let event): events.append(event)
      case .participants(let number, let room):
        #expect(responses[number] == nil, "A request has two responses.")
        responses[number] = server.participantsResponse([
          .init(id: "0f3a", name: "\(room)\"é"), .init(id: "77", name: nil),
        ])
      }
    }
  }

  @discardableResult
  mutating func send(
    _ method: HTTPMethod, _ target: String, _ headers: HTTPHeaders = [:], body: String = "",
    address: String = "192.0.2.1"
  ) -> HTTPResponse? {
    lastNumber += 1
    let request = WHIPServer.Request(
      method, target, headers: headers, body: ByteBuffer(string: body), address: address)
    perform(server.received(request, number: lastNumber, now: now))
    return responses[lastNumber]
  }

  /// Sends a request that has its response at once.
  mutating func fetch(
    _ method: HTTPMethod, _ target: String, _ headers: HTTPHeaders = [:], body: String = "",
    address: String = "192.0.2.1"
  ) throws -> HTTPResponse {
    let response = send(method, target, headers, body: body, address: address)
    return try #require(response)
  }

  /// The session of the newest offer or restart.
  var session: WHIPServer.SessionID? {
    events.lazy.reversed().compactMap {
      switch $0 {
      case .offer(let id, _, _, _, _), .restart(let id, _): id
      default: nil
      }
    }.first
  }

  /// Lets the peer answer, and returns the response to the newest request.
  mutating func answer(
    _ sdp: String = Sample.answer(), rejected: [RejectedSection] = []
  ) throws -> HTTPResponse {
    let id = try #require(session)
    perform(server.answered(id, sdp: sdp, rejected: rejected, now: now))
    return try #require(responses[lastNumber])
  }

  mutating func create(token: String? = nil) throws -> HTTPResponse {
    var headers: HTTPHeaders = ["Content-Type": Self.sdp]
    if let token { headers.add(name: "Authorization", value: "Bearer \(token)") }
    let early = send(.POST, "/whip/100", headers, body: Sample.offer())
    #expect(early == nil, "\(early?.text ?? "")")
    return try answer()
  }
}

extension HTTPResponse {
  func header(_ name: String) -> String { headers.first(name: name) ?? "" }
}
