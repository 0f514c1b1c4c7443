package import HTTPTransport
import Media
package import NIOCore
package import NIOHTTP1
package import Signalling

/// The resources of a WHIP (RFC 9725) and WHEP (draft-ietf-wish-whep) server: requests and answers of the peer in,
/// responses and events out. Pure.
///
/// ```
/// POST /whip/ROOM               creates a session: 201 when the peer has answered
/// PATCH  …/sessions/ID          adds candidates (204), or restarts ICE (200 when the peer has answered)
/// DELETE …/sessions/ID          ends it
/// GET /whep/ROOM/participants   lists whom a player can choose; an addition of this project
/// ```
///
/// Left out on purpose: counter-offers of WHEP, protocol extensions, redirects.
package struct WHIPServer: Sendable {
  /// A request with its complete body.
  package struct Request: Sendable {
    package var method: HTTPMethod
    /// The path and query.
    package var target: String
    package var headers: HTTPHeaders
    package var body: ByteBuffer
    /// Names the client's IPv4 address or IPv6 network; empty for this machine, to which limits for each address do not
    /// apply.
    package var address: String

    package init(
      _ method: HTTPMethod, _ target: String, headers: HTTPHeaders = [:], body: ByteBuffer = ByteBuffer(),
      address: String
    ) {
      self.method = method
      self.target = target
      self.headers = headers
      self.body = body
      self.address = address
    }
  }

  /// The unguessable id of a session.
  package struct SessionID: Sendable, Hashable {
    package let text: String

    package init(text: String) {
      self.text = text
    }
  }

  /// What happened to a session.
  package enum Event: Sendable, Hashable {
    /// A client offers media; the peer answers with ``WHIPServer/answered(_:sdp:now:)``.
    case offer(SessionID, WHIPClient.Role, sdp: String, room: String, name: String?)
    case candidate(SessionID, TrickledCandidate)
    /// A client restarts ICE; the peer answers this offer in the same way.
    case restart(SessionID, sdp: String)
    case ended(SessionID)
  }

  /// What the owner has to do, in order.
  package enum Outcome: Sendable {
    /// Respond to the request with this number.
    case respond(Int, HTTPResponse)
    case event(Event)
    /// Respond to the request with this number with those of the room who send; see
    /// ``WHIPServer/participantsResponse(_:)``.
    case participants(Int, room: String)
  }

  /// A participant of a room whom a player can choose.
  package struct Participant: Sendable, Hashable, Encodable {
    package var id: String
    package var name: String?

    package init(id: String, name: String?) {
      self.id = id
      self.name = name
    }
  }

  struct Session {
    let role: WHIPClient.Role
    let room: String
    let address: String
    let token: TokenList.Match
    var entityTag: String
    /// The newest offer that was answered or waits for its answer.
    var offer: String
    /// The offer before the restart that waits for its answer.
    var formerOffer: String?
    /// The request that waits for the peer's answer.
    var waiting: (request: Int, until: NIODeadline)?
    var isEstablished = false
    var candidateCount = 0
  }

  package let options: Options
  var sessions: [SessionID: Session] = [:]
  private var generator: any RandomNumberGenerator & Sendable
  private var rates: RequestRates

  package init(
    options: Options = Options(), generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) {
    self.options = options
    self.generator = generator
    rates = RequestRates(options: options)
  }

  package var sessionCount: Int { sessions.count }

  /// Whether a target belongs to this server, rather than to its pages.
  package static func handles(_ target: String) -> Bool { WHIPPath(target: target) != nil }

  // MARK: Requests

  /// - Parameter number: identifies the request in its response, which may come later.
  package mutating func received(_ request: Request, number: Int, now: NIODeadline) -> [Outcome] {
    for name in ["Origin", "Authorization", "Content-Type", "If-Match"]
    where request.headers[name].contains(where: { $0.utf8.hasRunOutsideASCII(over: 0) }) {
      return [.respond(number, problem(.badRequest, "The \(name) header is not ASCII."))]
    }
    let origin = request.headers.first(name: "Origin")
    if let origin, let allowed = options.allowedOrigins, !allowed.contains(origin) {
      return [.respond(number, problem(.forbidden, "Pages of this origin may not use the server."))]
    }
    guard rates.consumeRequest(of: request.address, now: now) else {
      return [.respond(number, busy(.tooManyRequests, "Too many requests."))]
    }
    switch WHIPPath(target: request.target) {
    case .endpoint(let role, let room, let name):
      return endpoint(request, role, room: room, name: name, number: number, now: now)
    case .session(let role, let room, let id):
      return session(request, SessionID(text: id), role, room: room, number: number, now: now)
    case .participants(let room):
      return [participants(request, of: room, number: number)]
    case nil:
      return [.respond(number, problem(.notFound, "Nothing is at this path; an endpoint is /whip/ROOM."))]
    }
  }

  private mutating func endpoint(
    _ request: Request, _ role: WHIPClient.Role, room: String, name: String?, number: Int, now: NIODeadline
  ) -> [Outcome] {
    switch request.method {
    case .OPTIONS:
      return [.respond(number, optionsResponse(request))]
    case .GET, .HEAD:
      return [.respond(number, response(.noContent))]
    case .POST:
      do throws(Refusal) {
        return try create(request, role, room: room, name: name, number: number, now: now)
      } catch {
        return [.respond(number, error.response)]
      }
    default:
      return [.respond(number, notAllowed("OPTIONS, GET, HEAD, POST"))]
    }
  }

  private func participants(_ request: Request, of room: String, number: Int) -> Outcome {
    switch request.method {
    case .OPTIONS: return .respond(number, optionsResponse(request))
    case .GET, .HEAD: break
    default: return .respond(number, notAllowed("OPTIONS, GET, HEAD"))
    }
    do throws(Refusal) {
      _ = try authorize(request)
      return .participants(number, room: room)
    } catch {
      return .respond(number, error.response)
    }
  }

  private mutating func create(
    _ request: Request, _ role: WHIPClient.Role, room: String, name: String?, number: Int, now: NIODeadline
  ) throws(Refusal) -> [Outcome] {
    let token = try authorize(request)
    let offer = try text(of: request, type: "application/sdp")
    do throws(OfferRequirements.Problem) {
      try OfferRequirements.check(offer, of: role)
    } catch {
      throw Refusal(problem(error.isMalformed ? .badRequest : .unprocessableEntity, error.description))
    }
    let isTaken = role == .publisher && sessions.values.contains { $0.room == room && $0.role == .publisher }
    if isTaken && !options.allowsSeveralPublishers {
      throw Refusal(busy(.conflict, "The room has a publisher already."))
    }
    guard sessions.count < options.maximumSessions else {
      throw Refusal(busy(.serviceUnavailable, "The server has no room for another session."))
    }
    guard
      request.address.isEmpty
        || sessions.values.count(where: { $0.address == request.address }) < options.maximumSessionsPerAddress
    else {
      throw Refusal(busy(.tooManyRequests, "This address has too many sessions."))
    }
    guard rates.consumeSession(of: request.address, now: now) else {
      throw Refusal(busy(.tooManyRequests, "Too many new sessions."))
    }
    let id = SessionID(text: randomText())
    var session = Session(
      role: role, room: room, address: request.address, token: token, entityTag: "\"\(randomText())\"", offer: offer)
    session.waiting = (number, now + TimeAmount(options.answerTimeout))
    sessions[id] = session
    return [.event(.offer(id, role, sdp: offer, room: room, name: name))]
  }

  /// 128 random bits, in hexadecimal.
  mutating func randomText() -> String {
    var generator = self.generator
    defer { self.generator = generator }
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: (0..<32).map { _ in digits[Int.random(in: 0..<16, using: &generator)] }, as: UTF8.self)
  }
}
