import BotPeer
import CallCheck
import Media

extension CheckEvent {
  /// What a check is told of something that happened with a peer.
  static func all(of event: PeerEvent) -> [CheckEvent] {
    switch event {
    case .signal(.offer(let sdp)): [.step(.offerSent)] + local(CandidateKind.all(in: sdp))
    case .signal(.answer(let sdp)): [.step(.answerSent)] + local(CandidateKind.all(in: sdp))
    case .signal(.candidate(let trickled)):
      trickled.candidate.isEmpty ? [] : local([CandidateKind(candidate: trickled.candidate)])
    case .reached(let milestone): [.step(CallStep(milestone))]
    case .stateChanged(.connected): [.step(.dtlsConnected)]
    case .media(.frame(let frame)): [.frame(frame)]
    case .media(.clock(let report)): [.clock(report)]
    case .ended(let ending): [.step(.gone(.init(ending.cause), ending.sentence))]
    case .stateChanged, .media, .keyframeRequested, .targetBitrate, .problem: []
    }
  }

  private static func local(_ kinds: [CandidateKind]) -> [CheckEvent] { kinds.map { .step(.localCandidate($0)) } }
}

extension CallStep {
  init(_ milestone: ConnectionMilestone) {
    self =
      switch milestone {
      case .checksBegun: .checksBegun
      case .checkAnswered: .checkAnswered
      case .iceConnected: .iceConnected
      case .firstPacket: .firstPacket
      }
  }
}

extension PeerReport.Departure.Cause {
  init(_ cause: CloseReason.Cause) {
    self =
      switch cause {
      case .closedByParticipant: .left
      case .connectionLost: .connectionLost
      case .failed: .failed
      case .closedByUs: .closedByUs
      }
  }
}
