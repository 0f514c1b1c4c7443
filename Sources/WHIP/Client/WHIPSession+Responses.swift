package import HTTPTransport
import Logging
package import Media
import NIOCore
import NIOHTTP1
import Signalling

/// Responses of the server. Unknown codes mean what their first digit means (RFC 9725, 4.1).
extension WHIPSession {
  package mutating func responded(
    to request: Int, _ result: Result<HTTPResponse, HTTPError>, now: MonotonicInstant
  ) -> [Action] {
    if closingRequests.remove(request) != nil { return [] }
    if request == trickleRequest { return trickleResponded(result, now: now) }
    switch state {
    case .posting(request, let url, let redirects, let offer):
      return postResponded(result, url: url, redirects: redirects, offer: offer, now: now)
    case .sendingAnswer(request, let resource):
      return answerResponded(result, resource, now: now)
    case .restarting(request, let resource, let offer):
      return restartResponded(result, resource, offer: offer, now: now)
    case .leaving(request, let url):
      state = .ended
      guard case .success(let response) = result, let resource = resource(of: response, url: url, local: "")
      else { return [] }
      return delete(resource)
    default:
      // The response to a request that another one has replaced (RFC 9725, 4.3.3).
      return []
    }
  }

  // MARK: The response to an offer

  private mutating func postResponded(
    _ result: Result<HTTPResponse, HTTPError>, url: HTTPURL, redirects: Int, offer: String,
    now: MonotonicInstant
  ) -> [Action] {
    let response: HTTPResponse
    switch result {
    case .success(let received): response = received
    case .failure(let error) where error.isPermanent: return end(error.description)
    case .failure(let error): return lost(error.description, offer: offer, after: nil, now: now)
    }
    let said = "The \(role) server responded \(response.status.code)"
    switch response.status.code {
    case 200..<300:
      return accepted(response, url: url, offer: offer, now: now)
    case 307, 308:
      return redirected(response, from: url, redirects: redirects, offer: nextOffer ?? offer)
    case 406 where role == .player && response.hasSessionDescription:
      return counterOffered(response, url: url, now: now)
    case 404 where role == .player && options.waitsForStream:
      return lost("\(said): the stream does not exist yet.", offer: offer, after: response.retryAfter, now: now)
    case 501, 505:
      // It will never do what it cannot do (RFC 9110, 15.6.2).
      return end("\(said): it takes no offers at \(url.description.printable()).")
    case 408, 409, 425, 429, 500...:
      return lost("\(said).", offer: offer, after: response.retryAfter, now: now)
    case 401, 403:
      let reason = options.token == nil ? "it requires a token" : "it rejects the token"
      return end("\(said): \(reason).")
    case let code where url.namesNoRoom && [404, 405, 410].contains(code):
      return end("\(said): the address names no room; it ends with one, as in \(url.example(for: role)).")
    case 404, 410:
      return end("\(said): nothing is at \(url.description.printable()).")
    default:
      return end("\(said) to the offer\(response.problem).")
    }
  }

  private mutating func accepted(
    _ response: HTTPResponse, url: HTTPURL, offer: String, now: MonotonicInstant
  ) -> [Action] {
    guard let resource = resource(of: response, url: url, local: offer) else { return [] }
    guard response.hasSessionDescription else {
      return delete(resource) + end("The \(role) server accepted the offer without an answer in SDP.")
    }
    var actions: [Action] = []
    if resource.url == nil { actions.append(.log(.warning, noLocation(in: response, url: url))) }
    let servers = response.iceServers
    if !servers.isEmpty { actions.append(.deliver(.iceServers(servers))) }
    isTrickling = true
    let former = replaced
    replaced = nil
    if let former, former.local == SDPOutline(nextOffer ?? offer).fingerprints,
      !former.remote.isDisjoint(with: SDPOutline(resource.remote).fingerprints)
    {
      // The server begins a new association, which nothing in its answer shows (RFC 8842, 5.1): only a new connection of
      // the peer can follow.
      nextOffer = nil
      return actions + delete(resource) + resumed(now: now) + sessionEnded(now: now)
    }
    state = .open(resource)
    if let next = takeNextOffer() { return actions + resumed(now: now) + self.offer(next, now: now) }
    // The answer comes first: when the peer hears that we have joined again, it offers again.
    return actions + [.deliver(.message(.answer(resource.remote), from: participant.id))] + resumed(now: now)
  }

  private mutating func counterOffered(
    _ response: HTTPResponse, url: HTTPURL, now: MonotonicInstant
  ) -> [Action] {
    guard let resource = resource(of: response, url: url, local: ""), resource.url != nil else {
      return end("The \(role) server made an offer of its own, but named no usable Location for the answer.")
    }
    isTrickling = true
    var actions: [Action] = []
    let servers = response.iceServers
    if !servers.isEmpty { actions.append(.deliver(.iceServers(servers))) }
    state = .answering(resource)
    if let next = takeNextOffer() { return actions + resumed(now: now) + self.offer(next, now: now) }
    return actions + [.deliver(.message(.offer(resource.remote), from: participant.id))] + resumed(now: now)
  }

  private mutating func redirected(
    _ response: HTTPResponse, from url: HTTPURL, redirects: Int, offer: String
  ) -> [Action] {
    guard redirects < Self.maximumRedirects else {
      return end("The \(role) server redirects more than \(Self.maximumRedirects) times.")
    }
    guard let location = response.headers.first(name: "Location"), let target = try? url.resolving(location) else {
      return end("The \(role) server redirects without a usable Location.")
    }
    guard target.isSecure || !url.isSecure else {
      return end("The \(role) server redirects from https to http.")
    }
    guard permits(target, namedBy: url) else {
      return end(
        "The \(role) server redirects to another origin, \(target.description.printable()). "
          + "The option --allow-redirects permits it.")
    }
    nextOffer = nil
    return post(offer, to: target, redirects: redirects + 1, scope: response.scope)
  }

  // MARK: The responses to an answer and to a restart

  private mutating func answerResponded(
    _ result: Result<HTTPResponse, HTTPError>, _ resource: Resource, now: MonotonicInstant
  ) -> [Action] {
    guard case .success(let response) = result, response.statusClass == 2 else {
      let reason = result.reason
      return [.log(.warning, "The \(role) server did not accept our answer: \(reason).".withOnePeriod)]
        + (result.isGone ? [] : delete(resource)) + sessionEnded(now: now)
    }
    var resource = resource
    resource.entityTag = response.entityTag ?? resource.entityTag
    state = .open(resource)
    return takeNextOffer().map { offer($0, now: now) } ?? []
  }

  private mutating func restartResponded(
    _ result: Result<HTTPResponse, HTTPError>, _ resource: Resource, offer: String, now: MonotonicInstant
  ) -> [Action] {
    if case .success(let response) = result, response.status == .ok,
      let fragment = try? SDPFragment(parsing: response.text),
      let answer = ICERestart.answer(from: resource.remote, fragment: fragment)
    {
      var resource = resource
      resource.entityTag = response.entityTag ?? resource.entityTag
      resource.local = offer
      resource.remote = answer
      state = .open(resource)
      if let next = takeNextOffer() { return self.offer(next, now: now) }
      return [.deliver(.message(.answer(answer), from: participant.id))]
    }
    let newest = takeNextOffer() ?? offer
    return [
      .log(.notice, "The \(role) server did not restart ICE, so a new session is made: \(result.reason).".withOnePeriod)
    ]
      + replace(resource, isGone: result.isGone, offer: newest)
  }

  // MARK: Common

  /// The session that a response describes; its body is the answer.
  private func resource(of response: HTTPResponse, url: HTTPURL, local: String) -> Resource? {
    guard response.statusClass == 2 || response.status.code == 406 else { return nil }
    let location = response.headers.first(name: "Location").flatMap { try? url.resolving($0) }
    let isUsable = location.map { permits($0, namedBy: url) } ?? false
    return Resource(
      url: isUsable ? location : nil, entityTag: response.entityTag, local: local, remote: response.text,
      scope: response.scope)
  }

  /// Whether requests may go to an address that a server names: one of its own origin or of the endpoint's, the same host
  /// over TLS, or with ``WHIPClient/Options/followsOtherOrigins`` any other. Credentials and descriptions that went over
  /// TLS never go on without it. The scope of the resolved address counts as well (`HTTPRequest.narrowestScope`).
  private func permits(_ target: HTTPURL, namedBy url: HTTPURL) -> Bool {
    guard target.isSecure || !url.isSecure else { return false }
    if target.hasSameOrigin(as: url) || target.hasSameOrigin(as: endpoint) { return true }
    return target.isUpgrade(of: url) || options.followsOtherOrigins
  }

  /// Why no Location can be used.
  private func noLocation(in response: HTTPResponse, url: HTTPURL) -> String {
    let consequence = "so the session cannot be deleted"
    guard let text = response.headers.first(name: "Location"), let location = try? url.resolving(text),
      location.isSecure || !url.isSecure
    else { return "The \(role) server named no usable Location, \(consequence)." }
    return
      "The \(role) server named a Location of another origin, \(location.description.printable()), \(consequence). "
      + "The option --allow-redirects permits it."
  }

  private mutating func takeNextOffer() -> String? {
    defer { nextOffer = nil }
    return nextOffer
  }

  /// Announces us again after a lost connection.
  private mutating func resumed(now: MonotonicInstant) -> [Action] {
    reconnection.connectionOpened(now: now) ? joined() : []
  }

  private mutating func lost(
    _ reason: String, offer: String, after minimum: Duration?, now: MonotonicInstant
  ) -> [Action] {
    state = .waitingToPost(offer: takeNextOffer() ?? offer)
    return wait(after: .lost(reason: reason, delay: .backoff(atLeast: minimum ?? .zero)), now: now)
  }

  /// The server ended the session. The participant returns after a while, so that the peer calls again; at once, if the
  /// peer has offered meanwhile. That offer belongs to the connection that ends.
  mutating func sessionEnded(now: MonotonicInstant) -> [Action] {
    waitingCandidates = []
    sendsCandidatesAt = nil
    trickleRequest = nil
    replaced = nil
    let left = Action.deliver(.participantLeft(participant.id, isRejoinVerified: false))
    guard takeNextOffer() == nil else {
      state = .ready
      reconnection.connectionEnded(.lost(reason: nil, delay: .none), now: now)
      return [left, .deliver(.participantJoined(participant))]
    }
    state = .waitingToReturn
    return [left] + wait(after: .lost(reason: nil), now: now)
  }

  private mutating func end(_ reason: String) -> [Action] {
    state = .ended
    reconnection.leave()
    return [.deliver(.rejected(reason: reason))]
  }

  /// Begins the wait for the next session.
  ///
  /// - Parameter end: how the last one, or the attempt to make one, ended.
  /// - Returns: what is to be reported.
  private mutating func wait(after end: ReconnectionState.ConnectionEnd, now: MonotonicInstant) -> [Action] {
    reconnection.connectionEnded(end, now: now)
    var actions: [Action] = []
    while case .deliver(let event) = reconnection.next(now: now) { actions.append(.deliver(event)) }
    return actions
  }
}

extension HTTPResponse {
  /// The ICE servers of the `Link` headers, none of which may be in a narrower network than the server.
  var iceServers: [ICEServer] {
    WebLink.iceServers(in: headers).map { server in
      var server = server
      server.narrowestScope = scope
      return server
    }
  }

  /// Whether the body is a session description, as its type says or, without a type, as it begins.
  var hasSessionDescription: Bool {
    guard mediaType?.hasPrefix("application/sdp") ?? true else { return false }
    let bytes = body.readableBytesView
    return bytes.starts(with: "v=0".utf8) && !bytes.hasRunOutsideASCII(over: SDPOutline.maximumRunOutsideASCII)
  }

  /// The beginning of the media type, in lower case.
  private var mediaType: String? {
    headers.first(name: "Content-Type").map { String(decoding: $0.utf8.prefix(64), as: UTF8.self).lowercased() }
  }

  /// The entity tag, if it can be sent back (RFC 9110, 8.8.3).
  var entityTag: String? {
    guard let tag = headers.first(name: "ETag"), (1...256).contains(tag.utf8.count),
      tag.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return nil }
    return tag
  }

  /// The beginning of a text that says what is wrong, as a clause.
  fileprivate var problem: String {
    let type = mediaType ?? ""
    guard type.hasPrefix("text/plain") || type.contains("json"), body.readableBytes > 0 else { return "" }
    // The first line, without its full stop: the sentence has its own.
    let line = text.split(whereSeparator: \.isNewline).first ?? ""
    let end = line.lastIndex { !$0.isWhitespace && $0 != "." }
    return end.map { ": \(String(line[...$0]).printable())" } ?? ""
  }
}

extension HTTPError {
  /// Whether another attempt fails for the same reason.
  fileprivate var isPermanent: Bool {
    switch self {
    case .notTrusted, .noCertificates, .notPermitted: true
    case .unreachable, .invalidResponse, .responseTooLarge, .timedOut: false
    }
  }
}

extension HTTPResponseStatus {
  /// Whether the session does not exist any more.
  var isGone: Bool { code == 404 || code == 410 }
}

extension Result<HTTPResponse, HTTPError> {
  fileprivate var isGone: Bool { if case .success(let response) = self { response.status.isGone } else { false } }

  fileprivate var reason: String {
    switch self {
    case .success(let response): "it responded \(response.status.code)"
    case .failure(let error): error.description
    }
  }
}

extension HTTPURL {
  /// Whether the path ends where servers have the name of a room: it is empty, or names only the protocol.
  fileprivate var namesNoRoom: Bool {
    let last = path.split(separator: "/").last.map { $0.lowercased() }
    return last == nil || last == "whip" || last == "whep"
  }

  /// The address with a room, as many servers have it.
  fileprivate func example(for role: WHIPClient.Role) -> String {
    var shown = "\(isSecure ? "https" : "http")://\(authority)\(path)"
    while shown.hasSuffix("/") { shown.removeLast() }
    return "\(path == "/" ? "\(shown)/\(role == .player ? "whep" : "whip")" : shown)/ROOM".printable()
  }
}
