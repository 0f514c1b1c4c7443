import HTTPTransport
package import Media
package import NIOCore
import NIOHTTP1
import Signalling

/// Sessions that exist: candidates, restarts, answers and ends.
extension WHIPServer {
  mutating func session(
    _ request: Request, _ id: SessionID, _ role: WHIPClient.Role, room: String, number: Int, now: NIODeadline
  ) -> [Outcome] {
    if request.method == .OPTIONS { return [.respond(number, optionsResponse(request))] }
    do throws(Refusal) {
      let token = try authorize(request)
      guard let session = sessions[id], session.role == role, session.room == room, session.isEstablished else {
        throw Refusal(problem(.notFound, "This session does not exist."))
      }
      guard session.token == token else {
        throw Refusal(problem(.forbidden, "This session belongs to another token."))
      }
      switch request.method {
      case .GET, .HEAD: return [.respond(number, response(.noContent))]
      case .DELETE: return end(id) + responseToWaiting(session) + [.respond(number, response(.ok))]
      case .PATCH: return try patch(request, id, session, number: number, now: now)
      default: throw Refusal(notAllowed("OPTIONS, GET, HEAD, PATCH, DELETE"))
      }
    } catch {
      return [.respond(number, error.response)]
    }
  }

  private mutating func patch(
    _ request: Request, _ id: SessionID, _ session: Session, number: Int, now: NIODeadline
  ) throws(Refusal) -> [Outcome] {
    let text = try text(of: request, type: SDPFragment.mediaType)
    guard let condition = request.headers.first(name: "If-Match") else {
      throw Refusal(
        problem(.preconditionRequired, "The request needs If-Match with the entity tag of the ICE session."))
    }
    let tags = condition.split(separator: ",").map { $0.drop { $0 == " " }.prefix { $0 != " " } }
    guard condition == "*" || tags.contains(Substring(session.entityTag)) else {
      throw Refusal(problem(.preconditionFailed, "The entity tag is not that of the current ICE session."))
    }
    let fragment: SDPFragment
    do throws(SDPFragment.ParseError) {
      fragment = try SDPFragment(parsing: text)
    } catch {
      throw Refusal(problem(.badRequest, error.description))
    }
    let isRestart = fragment.credentials.map { $0 != SDPOutline(session.offer).credentials } ?? false
    guard isRestart else { return candidates(fragment, id, session, number: number) }
    guard condition == "*" else {
      throw Refusal(problem(.unprocessableEntity, "An ICE restart needs If-Match: *."))
    }
    guard session.waiting == nil else {
      throw Refusal(busy(.conflict, "Another ICE restart of this session is in progress."))
    }
    // Credentials may be longer than the ones that they replace, in many sections.
    guard let offer = ICERestart.answer(from: session.offer, fragment: fragment),
      offer.utf8.count <= 2 * options.maximumBodyBytes
    else {
      throw Refusal(problem(.unprocessableEntity, "The ICE restart cannot be carried out."))
    }
    sessions[id]?.formerOffer = session.offer
    sessions[id]?.offer = offer
    let until = now + TimeAmount(options.answerTimeout)
    sessions[id]?.waiting = (number, until)
    return [.event(.restart(id, sdp: offer))]
  }

  private mutating func candidates(
    _ fragment: SDPFragment, _ id: SessionID, _ session: Session, number: Int
  ) -> [Outcome] {
    let candidates = fragment.trickled.prefix(max(0, options.maximumCandidates - session.candidateCount))
    sessions[id]?.candidateCount = session.candidateCount + candidates.count
    return candidates.map { .event(.candidate(id, $0)) } + [.respond(number, response(.noContent))]
  }

  // MARK: The peer

  /// The peer answered the offer or the restart of a session. Its answer contains all of its candidates.
  ///
  /// - Parameter rejected: the media sections of the offer that the answer rejects. A publisher must not believe that all
  ///   of its media is taken, so none of its audio or video may be among them (RFC 9725, 4.4.3); a player is warned.
  package mutating func answered(
    _ id: SessionID, sdp: String, rejected: [RejectedSection] = [], now: NIODeadline
  ) -> [Outcome] {
    guard var session = sessions[id], let waiting = session.waiting else { return [] }
    let isComplete = !rejected.contains { MediaKind(rawValue: $0.kind) != nil }
    if session.role == .publisher, !session.isEstablished, !isComplete {
      return refused(id, reason: rejected.map(\.description).joined(separator: " "), now: now)
    }
    session.waiting = nil
    if session.isEstablished {
      guard let fragment = SDPFragment(restartingWith: sdp) else {
        return refused(id, reason: "The ICE restart cannot be carried out.", now: now)
      }
      session.formerOffer = nil
      session.candidateCount = 0
      session.entityTag = "\"\(randomText())\""
      sessions[id] = session
      var response = response(.ok, type: SDPFragment.mediaType, fragment.text)
      response.headers.add(name: "ETag", value: session.entityTag)
      return [.respond(waiting.request, response)]
    }
    session.isEstablished = true
    sessions[id] = session
    var response = response(.created, type: "application/sdp", sdp)
    response.headers.add(
      name: "Location", value: WHIPPath.sessionPath(session.role, room: session.room, id: id.text))
    response.headers.add(name: "ETag", value: session.entityTag)
    response.headers.add(name: "Accept-Patch", value: SDPFragment.mediaType)
    addLinks(to: &response)
    addWarnings(rejected, to: &response)
    return [.respond(waiting.request, response)]
  }

  /// The peer cannot accept the offer or the restart, which is 422 (RFC 9725, 4.4.3). A session whose restart is refused
  /// continues as before.
  ///
  /// - Parameter reason: one sentence for the client.
  package mutating func refused(_ id: SessionID, reason: String, now: NIODeadline) -> [Outcome] {
    giveUp(id, with: problem(.unprocessableEntity, reason))
  }

  /// The session ended on our side, for example because its ICE consent expired.
  package mutating func ended(_ id: SessionID) -> [Outcome] {
    guard let session = sessions.removeValue(forKey: id) else { return [] }
    return responseToWaiting(session)
  }

  /// The response to the request that waits for the peer's answer, when the session ends before it.
  private func responseToWaiting(_ session: Session) -> [Outcome] {
    guard let waiting = session.waiting else { return [] }
    let sentence = "The session has ended."
    let response = session.isEstablished ? problem(.notFound, sentence) : busy(.serviceUnavailable, sentence)
    return [.respond(waiting.request, response)]
  }

  /// The connection of a request ended before its response. Nobody would receive the answer to an offer.
  package mutating func abandoned(request number: Int) -> [Outcome] {
    guard let (id, session) = sessions.first(where: { $0.value.waiting?.request == number }) else { return [] }
    if session.isEstablished {
      sessions[id]?.waiting = nil
      return []
    }
    return end(id)
  }

  // MARK: Time

  /// When ``timePassed(now:)`` has something to do.
  package var deadline: NIODeadline? { sessions.values.compactMap { $0.waiting?.until }.min() }

  /// Responds to requests that the peer did not answer in time.
  package mutating func timePassed(now: NIODeadline) -> [Outcome] {
    let late = sessions.filter { $0.value.waiting.map { $0.until <= now } ?? false }.keys
    return late.flatMap { giveUp($0, with: busy(.serviceUnavailable, "The server did not answer in time.")) }
  }

  private mutating func giveUp(_ id: SessionID, with response: HTTPResponse) -> [Outcome] {
    guard let session = sessions[id], let waiting = session.waiting else { return [] }
    let respond = Outcome.respond(waiting.request, response)
    guard session.isEstablished else { return end(id) + [respond] }
    sessions[id]?.waiting = nil
    if let former = session.formerOffer {
      sessions[id]?.offer = former
      sessions[id]?.formerOffer = nil
    }
    return [respond]
  }

  private mutating func end(_ id: SessionID) -> [Outcome] {
    sessions.removeValue(forKey: id) == nil ? [] : [.event(.ended(id))]
  }
}
