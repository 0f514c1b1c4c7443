import CallCheck

/// The steps by which a call was established, in the order in which they were taken.
struct SetUpSteps {
  struct Step {
    var name: String
    /// When it was taken, in seconds since the check's start; nil when it never was.
    var time: Double?
    /// Since the step before it.
    var took: Double?
  }

  var taken: [Step]
  /// What should have followed; empty when media came.
  var missing: [Step]

  init(_ peer: PeerReport, joined: Double?, expected: CheckExpectation) {
    let steps = peer.steps
    let all: [(String, Double?)] = [
      ("Signalling joined", joined), ("Peer seen", steps.seen),
      ("Offer sent", steps.offerSent), ("Offer received", steps.offerReceived),
      ("Answer sent", steps.answerSent), ("Answer received", steps.answerReceived),
      ("Our first candidate", steps.firstLocalCandidate), ("Peer\u{2019}s first candidate", steps.firstRemoteCandidate),
      ("ICE checks begun", steps.checksBegun), ("First check answered", steps.firstCheckAnswered),
      ("ICE connected", steps.iceConnected), ("DTLS connected", steps.dtlsConnected),
      ("First packet", steps.firstPacket), ("First frame", steps.firstFrame), ("First audio", steps.firstSound),
    ]
    let times = all.enumerated().compactMap { index, step in step.1.map { (index: index, time: max(0, $0)) } }
      .filter(\.time.isFinite).sorted { ($0.time, $0.index) < ($1.time, $1.index) }
    var before = 0.0
    taken = []
    for (index, time) in times {
      taken.append(Step(name: all[index].0, time: time, took: time - before))
      before = time
    }

    var missing: [String] = []
    if steps.offerSent == nil && steps.offerReceived == nil { missing.append("Offer") }
    if steps.answerSent == nil && steps.answerReceived == nil { missing.append("Answer") }
    if steps.firstRemoteCandidate == nil { missing.append("Peer\u{2019}s first candidate") }
    if steps.firstCheckAnswered == nil && steps.iceConnected == nil { missing.append("First check answered") }
    if steps.iceConnected == nil { missing.append("ICE connected") }
    if steps.dtlsConnected == nil { missing.append("DTLS connected") }
    if steps.firstPacket == nil { missing.append("First packet") }
    if expected.video && steps.firstFrame == nil { missing.append("First frame") }
    if expected.audio && steps.firstSound == nil { missing.append("First audio") }
    self.missing = taken.isEmpty ? [] : missing.map { Step(name: $0) }
  }
}
