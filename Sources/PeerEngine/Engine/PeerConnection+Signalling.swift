internal import ICE
internal import Media
internal import SDP
package import Signalling

/// Offers, answers and candidates.
extension PeerConnection {
  /// Calls the participant.
  package func offer(now: ContinuousClock.Instant) {
    guard isOpen else { return }
    leftRoom = nil
    beginConnecting(now: now)
    emit(.signal(.offer(negotiator.createOffer())))
    trickleLocalCandidates()
  }

  /// Takes what the participant said. What cannot be used is reported as ``PeerEvent/problem(_:)`` and changes nothing.
  package func received(_ message: SignallingMessage, now: ContinuousClock.Instant) {
    guard isOpen else { return }
    if faultInjector == nil {
      take(message, now: now)
    } else if let message = faultInjector?.incoming(message, now: now) {
      take(message, now: now)
    }
  }

  /// Does what a message requests.
  func take(_ message: SignallingMessage, now: ContinuousClock.Instant) {
    // Anyone who says something is in the room.
    leftRoom = nil
    agentIsTouched = true
    usernameFragmentsAreNew = true
    // A stray candidate brings a participant into being as well, and nobody may wait for ever.
    connectingDeadline =
      connectingDeadline ?? (state == .new ? MonotonicInstant(now) + configuration.connectingTimeout : nil)
    switch message {
    case .offer(let sdp):
      do {
        guard let (answer, session) = try negotiator.receivedOffer(sdp) else { return }
        beginConnecting(now: now)
        emit(.signal(.answer(answer)))
        follow(sdp, now: now)
        apply(session, now: now)
      } catch {
        complain("The offer cannot be used: \(error)", now: now)
      }
    case .answer(let sdp):
      do {
        guard let session = try negotiator.receivedAnswer(sdp) else { return }
        follow(sdp, now: now)
        apply(session, now: now)
      } catch {
        complain("The answer cannot be used: \(error)", now: now)
      }
    case .candidate(let trickled):
      received(trickled, now: now)
    }
  }

  /// Whether an offer can only be answered by an engine of its own.
  ///
  /// One that comes from another `RTCPeerConnection` than before is taken by the engine that there is, which begins ICE and DTLS
  /// again, so that a recording continues. That cannot be done where the participant shows the certificate of before, because then
  /// nothing says that DTLS begins again, or where an offer of ours waits that goes first: nobody is there to answer it. It must
  /// not be done where the id may be somebody else's by now: what they send belongs into no recording of the participant's.
  package func needsNewEngine(forOffer sdp: String) -> Bool {
    guard let remoteConnection, let later = RemoteConnectionIdentity(sdp), remoteConnection.isReplaced(by: later) else {
      return false
    }
    return mayBeSomebodyElse || remoteConnection.hasCertificate(of: later)
      || negotiator.isAwaitingAnswer && !negotiator.isPolite
  }

  /// How a call ends when ``needsNewEngine(forOffer:)`` says so.
  var endingForNewConnection: CloseReason {
    mayBeSomebodyElse
      ? CloseReason(
        .connectionLost,
        "Somebody came back under this id with a new connection, and the server does not verify who they are.")
      : CloseReason(.closedByParticipant, "The participant has begun a new connection.")
  }

  /// Remembers whose description was taken.
  private func follow(_ sdp: String, now: ContinuousClock.Instant) {
    let connection = RemoteConnectionIdentity(sdp)
    if let connection, remoteConnection?.isReplaced(by: connection) == true { connectionWasInterrupted(now: now) }
    remoteConnection = connection ?? remoteConnection
  }

  private func received(_ trickled: TrickledCandidate, now: ContinuousClock.Instant) {
    // An empty candidate is Firefox's word for "no more"; we never wait for more, so it tells us nothing.
    guard !trickled.candidate.isEmpty else { return }
    do {
      agent.addRemoteCandidate(try ICECandidate(parsing: trickled.candidate), now: now)
    } catch {
      complain("The candidate cannot be used: \(error)", now: now)
    }
  }

  private func apply(_ session: NegotiatedSession, now: ContinuousClock.Instant) {
    hasExchangedDescriptions = true
    if session.isICERestart {
      agent.restart(with: session.localCredentials, now: now)
      trickledCount = 0
    }
    agent.setRemote(
      usernameFragment: session.remoteUsernameFragment, password: session.remotePassword,
      isLite: session.remoteIsLite, now: now)
    for line in session.remoteCandidates {
      guard let candidate = try? ICECandidate(parsing: line) else { continue }
      agent.addRemoteCandidate(candidate, now: now)
    }
    media.configure(session.media, now: now)
    if let first = session.media.first {
      firstSection.mid = first.mid
      firstSection.mLineIndex = first.index
    }
    trickleLocalCandidates()
    do {
      handle(try secure.configure(role: session.dtlsRole, fingerprints: session.remoteFingerprints, now: now), now: now)
      // Another certificate during the call means another handshake, which may not take for ever either.
      if isOpen, !secure.isSecured, connectingDeadline == nil {
        connectingDeadline = MonotonicInstant(now) + configuration.connectingTimeout
        change(to: .connecting)
      }
    } catch {
      end(CloseReason(.failed, error.description), now: now)
    }
  }

  /// Sends each local candidate that has not been sent yet by itself too: a page may take its candidates only from there.
  func trickleLocalCandidates() {
    let candidates = agent.localCandidates
    for candidate in candidates.dropFirst(trickledCount) {
      var trickled = firstSection
      trickled.candidate = candidate.attributeValue
      emit(.signal(.candidate(trickled)))
    }
    trickledCount = candidates.count
  }

  private func beginConnecting(now: ContinuousClock.Instant) {
    guard state == .new else { return }
    connectingDeadline = MonotonicInstant(now) + configuration.connectingTimeout
    change(to: .connecting)
  }
}
