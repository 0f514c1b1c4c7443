internal import ICE
package import Media
package import Signalling

/// Offers, answers and candidates.
extension PeerConnection {
  /// Sends an offer to the participant.
  package func offer(now: MonotonicInstant) {
    guard isOpen else { return }
    transport.participantReturned()
    beginConnecting(now: now)
    send(offer: negotiation.createOffer(now: now))
    trickleLocalCandidates()
  }

  /// Sends an offer again that has not been answered: the signalling may have lost it, or its answer.
  package func repeatOffer(now: MonotonicInstant) {
    guard isOpen, negotiation.negotiator.isAwaitingAnswer else { return }
    send(offer: negotiation.createOffer(isRepeated: true, now: now))
    trickleLocalCandidates()
  }

  func send(offer: String) {
    emit(.signal(.offer(offer)))
    transport.setOffered(negotiation.negotiator.offeredCredentials)
  }

  /// Handles a signalling message of the participant. An unusable message is reported as ``PeerEvent/problem(_:)`` and
  /// changes nothing.
  package func received(_ message: SignallingMessage, now: MonotonicInstant) {
    guard isOpen else { return }
    if !isIntercepted {
      take(message, now: now)
    } else if let message = intercepted(incoming: message, now: now) {
      take(message, now: now)
    }
  }

  /// Acts on a message.
  func take(_ message: SignallingMessage, now: MonotonicInstant) {
    // A participant who sends a message is in the room.
    transport.participantReturned()
    // A stray candidate also creates a participant, which must not wait indefinitely.
    if state == .new, !transport.isConnecting { transport.beginConnecting(now: now) }
    switch message {
    case .offer(let sdp):
      do {
        if let exchange = try negotiation.receivedOffer(sdp, now: now) {
          beginConnecting(now: now)
          apply(exchange, now: now)
        }
      } catch {
        reportProblem(error, with: "offer", now: now)
      }
    case .answer(let sdp):
      do {
        if let exchange = try negotiation.receivedAnswer(sdp) { apply(exchange, now: now) }
      } catch {
        reportProblem(error, with: "answer", now: now)
      }
    case .candidate(let trickled):
      received(trickled, now: now)
    }
    transport.setOffered(negotiation.negotiator.offeredCredentials)
  }

  private func received(_ trickled: TrickledCandidate, now: MonotonicInstant) {
    // Firefox ends its candidates with an empty one; we never wait for more candidates, so it is ignored.
    guard !trickled.candidate.isEmpty else { return }
    do {
      transport.addRemoteCandidate(try ICECandidate(parsing: trickled.candidate), now: now)
    } catch {
      reportProblem("The candidate cannot be used: \(error)", now: now)
    }
  }

  /// Reports and applies the result of an exchange, and sends our answer.
  private func apply(_ exchange: PeerNegotiation.Exchange, now: MonotonicInstant) {
    let session = exchange.session
    report(session.rejected, now: now)
    announceMedia(of: session)
    for codec in negotiation.reportUnaccepted(of: session) {
      reportProblem(Self.sentence(onUnaccepted: codec), now: now)
    }
    if let answer = exchange.answer { emit(.signal(.answer(answer))) }
    if exchange.isOtherConnection { media.connectionWasInterrupted(now: now) }
    transport.apply(session, isOfferer: exchange.isOfferer, now: now)
    media.configure(session.media, now: now)
    channels.configure(session.data, isOfferer: exchange.isOfferer, now: now)
    trickleLocalCandidates()
    do {
      let secured = try secure.configure(
        role: session.dtlsRole, fingerprints: session.remoteFingerprints, now: now)
      handle(secured, now: now)
      // Another certificate during the call requires another handshake, which must not take indefinitely either.
      if isOpen, !secure.isSecured, !transport.isConnecting {
        transport.beginConnecting(now: now)
        change(to: .connecting)
      }
    } catch {
      end(CloseReason(.failed, error.description), now: now)
    }
  }

  private func report(_ rejected: [RejectedSection], now: MonotonicInstant) {
    for section in negotiation.report(rejected, now: now) { emit(.sectionRejected(section)) }
  }

  /// Reports what the participant sends, if that has changed. What a rejected section would have carried counts, too.
  private func announceMedia(of session: NegotiatedSession) {
    if session.media.isEmpty, session.rejected.isEmpty { return }
    let rejected = session.rejected.filter(\.isUnexpected).compactMap { MediaKind(rawValue: $0.kind) }
    let kinds = Set(session.media.filter(\.receives).map(\.kind)).union(rejected)
    if kinds == announcedMedia { return }
    announcedMedia = kinds
    emit(.mediaAnnounced(kinds))
  }

  private func reportProblem(_ error: NegotiationError, with message: String, now: MonotonicInstant) {
    guard case .noUsableMedia(let sections) = error, sections.contains(where: \.isUnexpected) else {
      return reportProblem("The \(message) cannot be used: \(error)", now: now)
    }
    report(sections, now: now)
    reportProblem("The \(message) cannot be used: none of its media can be used.", now: now)
  }

  /// Signals a new local candidate.
  func signal(_ candidate: ICECandidate?) {
    guard let candidate else { return }
    negotiation.add(candidate)
    if state != .new { trickleLocalCandidates() }
  }

  private func trickleLocalCandidates() {
    for candidate in negotiation.trickle(transport.ice.agent.localCandidates) {
      emit(.signal(.candidate(candidate)))
    }
  }

  private func beginConnecting(now: MonotonicInstant) {
    guard state == .new else { return }
    transport.beginConnecting(now: now)
    change(to: .connecting)
  }
}
