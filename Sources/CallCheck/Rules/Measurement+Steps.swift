import Media

extension Measurement {
  static let ofRoom: [Measurement] = [
    room(
      "peers", .count, "Simultaneous peers", better: .higher,
      meaning: "The highest number of peers that sent media at the same time, not counting us."
    ) { .value(Double($0.peersAtOnce), detail: " of \($0.peersSeen) seen") },
    room(
      "peers.seen", .count, "Peers seen", meaning: "All peers seen in the room, whether they sent media or not."
    ) { .value($0.peersSeen) },
    room(
      "peers.listeners", .count, "Listeners",
      meaning: "Peers that only received: their descriptions announce no media, and none came. They are not judged."
    ) { .value($0.listeners ?? 0) },
    room(
      "joined", .time, "Time to join", better: .lower, noise: 0.2,
      meaning: "Time from the check's start until the server admitted us to the room."
    ) { $0.joined.map { .value($0) } ?? .missing("the server never admitted us to the room") },
    room(
      "signalling.lost", .time, "Time without the server", better: .lower, noise: 0.2,
      meaning:
        "Total time without the room server after it had admitted us. Calls continue without it."
    ) { room in
      guard let losses = room.signallingLost else { return noServer }
      guard let first = losses.first else { return .value(0) }
      return .value(
        losses.reduce(0) { $0 + $1.duration }, detail: ", first at \(MeasurementUnit.time.text(first.start))")
    },
    room(
      "signalling.lost.count", .count, "Server losses", better: .lower,
      meaning: "How often the connection to the room server was lost after it had admitted us."
    ) { room in
      room.signallingLost.map { .value($0.count) } ?? noServer
    },
  ]

  private static let noServer = Figure.missing("no server admitted us to a room")

  static let ofSteps: [Measurement] = [
    step(
      "answer", "Time to the answer", "Time from the offer, ours or the peer's, to its answer.",
      missing: "there was no answer"
    ) { steps in
      guard let answer = earliest(steps.answerReceived, steps.answerSent) else { return nil }
      return earliest(steps.offerSent, steps.offerReceived).map { max(0, answer - $0) }
    },
    step(
      "candidate", "Time to the first candidate",
      "Time from seeing the peer in the room to its first candidate, in its description or in a separate message.",
      missing: "no candidate of the peer arrived"
    ) { since($0, $0.firstRemoteCandidate) },
    step(
      "connect.ice", "Time to ICE", "Time from seeing the peer in the room to the selection of a candidate pair.",
      missing: "ICE did not connect"
    ) { since($0, $0.iceConnected) },
    step(
      "connect", "Time to connect", "Time from seeing the peer in the room to the end of the DTLS handshake.",
      missing: "the peer was not connected"
    ) { since($0, $0.dtlsConnected) },
    step(
      "firstPacket", "Time to the first packet", "Time from seeing the peer in the room to its first media packet.",
      missing: "no media packet arrived"
    ) { since($0, $0.firstPacket) },
    step(
      "video.firstFrame", "Time to the first frame",
      "Time from seeing the peer in the room to its first decoded frame.",
      missing: "no frame was decoded", kind: .video
    ) { since($0, $0.firstFrame) },
    step(
      "audio.firstSound", "Time to the first audio",
      "Time from seeing the peer in the room to its first decoded audio packet.",
      missing: "no audio was decoded", kind: .audio
    ) { since($0, $0.firstSound) },
    peer(
      "absent", .time, "Absence before the end", better: .lower, noise: 0.5,
      meaning:
        "How long before the check's end the peer's media ended because it left or was lost; 0 if it stayed."
        + " Not measured if there was never a connection."
    ) { peer in
      if peer.absent == 0, (.seen..<CallProgress.dtlsConnected).contains(peer.reached) {
        return .missing("the peer was never connected")
      }
      guard let departure = peer.departure else { return .value(peer.absent) }
      let position = MeasurementUnit.time.text(departure.time)
      return .value(peer.absent, detail: " (at \(position): \(departure.sentence.asClause))")
    },
  ]

  private static func step(
    _ name: String, _ title: String, _ meaning: String, missing: String, kind: MediaKind? = nil,
    _ value: @escaping @Sendable (CallSteps) -> Double?
  ) -> Measurement {
    peer(name, .time, title, better: .lower, noise: 0.2, meaning: meaning) { peer in
      if let value = value(peer.steps) { return .value(value) }
      if peer.reached == .nothing || (peer.reached == .media && peer.steps.seen == nil) {
        return .missing("it is not known when the call with the peer began, as in a recording")
      }
      if let kind, let absence = absence(of: kind, peer) { return .missing(absence) }
      return .missing("\(missing) (\(peer.progress.asClause))")
    }
  }

  private static func since(_ steps: CallSteps, _ time: Double?) -> Double? {
    guard let seen = steps.seen, let time else { return nil }
    return max(0, time - seen)
  }

  private static func earliest(_ one: Double?, _ other: Double?) -> Double? {
    guard let one, let other else { return one ?? other }
    return min(one, other)
  }
}
