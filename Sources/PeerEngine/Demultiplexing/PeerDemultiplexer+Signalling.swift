package import Media
package import Signalling

/// Offers to participants, and their messages.
extension PeerDemultiplexer {
  package func offer(to participant: ParticipantID, now: MonotonicInstant) {
    var former: PeerConnection?
    if let engine = engines[participant], engine.needsNewEngineToOffer {
      former = engine
      end(engine, because: PeerConnection.endingForNewOffer, now: now)
    }
    guard let engine = engine(for: participant, offers: true, after: former, now: now) else { return }
    engine.offer(now: now)
    markForPoll(engine)
  }

  /// Handles a participant's message. Of descriptions that arrive faster than they can be handled, only the newest counts.
  package func received(_ message: SignallingMessage, from participant: ParticipantID, now: MonotonicInstant) {
    if case .answer = message, engines[participant] == nil { return }
    if let message = rateLimiters.pass(message, from: participant, now: now) {
      act(on: message, from: participant, now: now)
    }
  }

  func act(on message: SignallingMessage, from participant: ParticipantID, now: MonotonicInstant) {
    switch message {
    case .offer(let sdp):
      receivedOffer(sdp, from: participant, now: now)
    case .answer(let sdp):
      receivedAnswer(sdp, from: participant, now: now)
    case .candidate:
      if let engine = engine(for: participant, offers: false, now: now) { give(message, to: engine, now: now) }
    }
  }

  private func receivedOffer(_ sdp: String, from participant: ParticipantID, now: MonotonicInstant) {
    var former: PeerConnection?
    if let engine = engines[participant], engine.needsNewEngine(forOffer: sdp) {
      former = engine
      end(engine, because: engine.endingForNewConnection, now: now)
    }
    guard let engine = engine(for: participant, offers: false, after: former, now: now) else { return }
    give(.offer(sdp), to: engine, now: now)
  }

  private func receivedAnswer(_ sdp: String, from participant: ParticipantID, now: MonotonicInstant) {
    guard let engine = engines[participant] else { return }
    guard engine.needsNewEngine(forAnswer: sdp) else { return give(.answer(sdp), to: engine, now: now) }
    end(engine, because: engine.endingForNewConnection, now: now)
    guard let new = self.engine(for: participant, offers: true, after: engine, now: now) else { return }
    new.offer(now: now)
    markForPoll(new)
  }

  /// Ends a call because another connection has begun under the id, which from now on belongs to another engine. The last
  /// datagrams and events leave with the next poll.
  private func end(_ engine: PeerConnection, because ending: CloseReason, now: MonotonicInstant) {
    engine.close(ending, now: now)
    markForPoll(engine)
    forget(engine)
  }

  private func give(_ message: SignallingMessage, to engine: PeerConnection, now: MonotonicInstant) {
    engine.received(message, now: now)
    markForPoll(engine)
  }
}
