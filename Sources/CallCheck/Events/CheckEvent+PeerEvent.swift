package import Media
package import PeerEngine
import Signalling

extension CheckEvent {
  /// Returns the check events for an event of a peer.
  package static func all(of event: PeerEvent) -> [CheckEvent] {
    switch event {
    case .signal(.offer(let sdp)): [.step(.offerSent)] + local(CandidateKind.all(in: sdp))
    case .signal(.answer(let sdp)): [.step(.answerSent)] + local(CandidateKind.all(in: sdp))
    case .signal(.candidate(let trickled)):
      trickled.candidate.isEmpty ? [] : local([CandidateKind(candidate: trickled.candidate)])
    case .reached(let milestone): [.step(CallStep(milestone))]
    case .stateChanged(.connected): [.step(.dtlsConnected)]
    case .sectionRejected(let section): [.sectionRejected(section)]
    case .mediaAnnounced(let kinds): [.mediaAnnounced(kinds)]
    case .ended(let ending): [.step(.departed(.init(ending.cause), ending.sentence))]
    case .media(let event): [CheckEvent(event)].compactMap(\.self)
    case .stateChanged, .pathSelected, .keyframeRequested, .targetBitrate, .iceRestarted, .problem:
      []
    }
  }

  /// Creates the check event for a media event, if there is one.
  package init?(_ event: MediaEvent) {
    switch event {
    case .frame(let frame): self = .frame(frame)
    case .clock(let report): self = .clock(report)
    case .described(let stream): self = .described(stream)
    case .recovering, .statistics: return nil
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

extension ConnectionSample {
  package init(_ statistics: PeerStatistics) {
    self.init()
    received = statistics.received
    var sent = Sent()
    sent.packets = statistics.packetsSent
    sent.bytes = statistics.bytesSent
    sent.frames = statistics.framesSent
    sent.packetsLost = statistics.packetsLost
    sent.keyframeRequests = statistics.keyframeRequests
    sent.targetBitrate = statistics.targetBitrate
    self.sent = sent
    roundTripTime = statistics.roundTripTime
    localAddress = statistics.localAddress
    remoteAddress = statistics.remoteAddress
    localCandidateType = (statistics.candidateTypes?.local).flatMap(CandidateKind.init(rawValue:))
    remoteCandidateType = (statistics.candidateTypes?.remote).flatMap(CandidateKind.init(rawValue:))
    protectionProfile = statistics.protectionProfile
    unreachableReason = statistics.unreachableReason
    if let counts = statistics.network {
      impairment = ConnectionReport.Impairment(
        send: Self.words(counts.sent), receive: Self.words(counts.received))
    }
  }

  /// The counts of impaired media and ICE datagrams by kind of impairment, without zeros. DTLS datagrams are not counted:
  /// how many a handshake takes depends on the speed of the machine, and the same call must produce the same report.
  private static func words(_ counts: NetworkStatistics.Counts) -> [String: UInt64] {
    let total = counts.byKind.filter { $0.key != .dtls }.values.reduce(NetworkStatistics.DatagramCounts(), +)
    let all = [
      "datagrams": total.datagrams, "lost": total.lost, "dropped": total.droppedByQueue, "delayed": total.delayed,
      "queued": total.queued, "reordered": total.reordered,
    ]
    return all.filter { $0.value > 0 }
  }
}
