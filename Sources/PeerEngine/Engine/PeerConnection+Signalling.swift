internal import ICE
internal import Media
internal import SDP
package import Signalling

/// Offers, answers and candidates.
extension PeerConnection {
  /// Sends an offer to the participant.
  package func offer(now: ContinuousClock.Instant) {
    guard isOpen else { return }
    timing.leftRoom = nil
    beginConnecting(now: now)
    sendOffer(now: now)
    trickleLocalCandidates()
  }

  /// Sends an offer again that has not been answered: the signalling may have lost it, or its answer.
  package func repeatOffer(now: ContinuousClock.Instant) {
    guard isOpen, negotiator.isAwaitingAnswer else { return }
    lastOffer = MonotonicInstant(now)
    sendOffer(now: now)
    // The candidates may be lost as well.
    trickledCount = 0
    trickleLocalCandidates()
  }

  func sendOffer(now: ContinuousClock.Instant) {
    if !negotiator.isAwaitingAnswer { lastOffer = MonotonicInstant(now) }
    emit(.signal(.offer(negotiator.createOffer())))
    followOfferedCredentials()
  }

  /// Makes the agent answer checks with the credentials of an offer of ours before its answer arrives.
  private func followOfferedCredentials() {
    agent.setOffered(negotiator.offeredCredentials)
    usernameFragmentsAreNew = true
  }

  /// How long the other side may take to answer an offer during a call, before its own offer takes precedence in any case: some
  /// clients answer no offer during a call.
  private static let answerTimeout = Duration.seconds(10)

  private func isAnswerOverdue(now: ContinuousClock.Instant) -> Bool {
    guard hasExchangedDescriptions, !hasAnsweredLaterOffer, let lastOffer else { return false }
    return MonotonicInstant(now) - lastOffer > Self.answerTimeout
  }

  /// Handles a signalling message of the participant. An unusable message is reported as ``PeerEvent/problem(_:)`` and
  /// changes nothing.
  package func received(_ message: SignallingMessage, now: ContinuousClock.Instant) {
    guard isOpen else { return }
    if faultInjector == nil {
      take(message, now: now)
    } else if let message = faultInjector?.incoming(message, now: MonotonicInstant(now)) {
      take(message, now: now)
    }
  }

  /// Acts on a message.
  func take(_ message: SignallingMessage, now: ContinuousClock.Instant) {
    // A participant who sends a message is in the room.
    timing.leftRoom = nil
    timing.agentIsTouched = true
    defer { followOfferedCredentials() }
    // A stray candidate also creates a participant, which must not wait indefinitely.
    timing.connectingDeadline =
      timing.connectingDeadline ?? (state == .new ? MonotonicInstant(now) + configuration.connectingTimeout : nil)
    switch message {
    case .offer(let sdp):
      do {
        guard let (answer, session) = try negotiator.receivedOffer(sdp, givesWay: isAnswerOverdue(now: now))
        else { return }
        beginConnecting(now: now)
        report(session, now: now)
        emit(.signal(.answer(answer)))
        follow(sdp, now: now)
        apply(session, isOfferer: false, now: now)
      } catch {
        reportProblem(error, with: "offer", now: now)
      }
    case .answer(let sdp):
      do {
        guard let session = try negotiator.receivedAnswer(sdp) else { return }
        if hasExchangedDescriptions { hasAnsweredLaterOffer = true }
        report(session, now: now)
        follow(sdp, now: now)
        apply(session, isOfferer: true, now: now)
      } catch {
        reportProblem(error, with: "answer", now: now)
      }
    case .candidate(let trickled):
      received(trickled, now: now)
    }
  }

  /// Reports what an exchange leaves out.
  private func report(_ session: NegotiatedSession, now: ContinuousClock.Instant) {
    report(session.rejected, now: now)
    if session.leavesOutOrientation, !hasReportedOrientation {
      hasReportedOrientation = true
      emit(.orientationLeftOut)
    }
  }

  private func report(_ rejected: [RejectedSection], now: ContinuousClock.Instant) {
    for section in rejections.update(rejected, now: now) { emit(.sectionRejected(section)) }
  }

  private func reportProblem(_ error: NegotiationError, with message: String, now: ContinuousClock.Instant) {
    guard case .noUsableMedia(let sections) = error, sections.contains(where: \.isUnexpected) else {
      return reportProblem("The \(message) cannot be used: \(error)", now: now)
    }
    report(sections, now: now)
    reportProblem("The \(message) cannot be used: none of its media can be used.", now: now)
  }

  /// Remembers the connection that an applied description belongs to.
  private func follow(_ sdp: String, now: ContinuousClock.Instant) {
    let connection = RemoteConnectionIdentity(sdp)
    if let connection, remoteConnection?.isReplaced(by: connection) == true { connectionWasInterrupted(now: now) }
    remoteConnection = connection ?? remoteConnection
  }

  private func received(_ trickled: TrickledCandidate, now: ContinuousClock.Instant) {
    // Firefox ends its candidates with an empty one; we never wait for more candidates, so it is ignored.
    guard !trickled.candidate.isEmpty else { return }
    do {
      agent.addRemoteCandidate(try ICECandidate(parsing: trickled.candidate), now: MonotonicInstant(now))
    } catch {
      reportProblem("The candidate cannot be used: \(error)", now: now)
    }
  }

  private func apply(_ session: NegotiatedSession, isOfferer: Bool, now: ContinuousClock.Instant) {
    hasExchangedDescriptions = true
    if session.isICERestart {
      agent.restart(with: session.localCredentials, now: MonotonicInstant(now))
      if !isOfferer { restartTrigger.participantRestarted(now: MonotonicInstant(now)) }
      trickledCount = 0
    }
    agent.setRemote(
      usernameFragment: session.remoteUsernameFragment, password: session.remotePassword,
      isLite: session.remoteIsLite, now: MonotonicInstant(now))
    for line in session.remoteCandidates {
      guard let candidate = try? ICECandidate(parsing: line) else { continue }
      agent.addRemoteCandidate(candidate, now: MonotonicInstant(now))
    }
    media.configure(session.media, now: now)
    channels.configure(session.data, isOfferer: isOfferer, now: MonotonicInstant(now))
    if let first = session.media.first.map({ ($0.mid, $0.index) }) ?? session.data.map({ ($0.mid, $0.index) }) {
      (firstSection.mid, firstSection.mLineIndex) = first
    }
    trickleLocalCandidates()
    do {
      handle(try secure.configure(role: session.dtlsRole, fingerprints: session.remoteFingerprints, now: now), now: now)
      // Another certificate during the call requires another handshake, which must not take indefinitely either.
      if isOpen, !secure.isSecured, timing.connectingDeadline == nil {
        timing.connectingDeadline = MonotonicInstant(now) + configuration.connectingTimeout
        change(to: .connecting)
      }
    } catch {
      end(CloseReason(.failed, error.description), now: now)
    }
  }

  /// Sends each local candidate that has not been trickled yet: a page may ignore those in the description.
  func trickleLocalCandidates() {
    let candidates = agent.localCandidates
    for candidate in candidates.dropFirst(trickledCount) {
      guard let text = configuration.policy.ice.signalledText(of: candidate) else { continue }
      var trickled = firstSection
      trickled.candidate = text
      emit(.signal(.candidate(trickled)))
    }
    trickledCount = candidates.count
  }

  private func beginConnecting(now: ContinuousClock.Instant) {
    guard state == .new else { return }
    timing.connectingDeadline = MonotonicInstant(now) + configuration.connectingTimeout
    change(to: .connecting)
  }
}
