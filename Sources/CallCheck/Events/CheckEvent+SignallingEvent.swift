package import Signalling

extension CheckEvent {
  /// Returns the check events for a message that the signalling carried from a participant.
  package static func all(of message: SignallingMessage) -> [CheckEvent] {
    switch message {
    case .offer(let sdp): [.step(.offerReceived)] + remote(CandidateKind.all(in: sdp))
    case .answer(let sdp): [.step(.answerReceived)] + remote(CandidateKind.all(in: sdp))
    case .candidate(let trickled):
      trickled.candidate.isEmpty ? [] : remote([CandidateKind(candidate: trickled.candidate)])
    }
  }

  private static func remote(_ kinds: [CandidateKind]) -> [CheckEvent] { kinds.map { .step(.remoteCandidate($0)) } }
}
