import Media

extension Measurement {
  static let ofConnection: [Measurement] =
    [
      loss("loss", "Loss", "of both tracks", \.loss, first: true),
      loss("audio.loss", "Audio loss", "of the audio", { $0.audio?.loss }, first: true),
      loss("video.loss", "Video loss", "of the video", { $0.video?.loss }, first: true),
      loss("loss.final", "Final loss", "of both tracks", \.finalLoss, first: false),
      loss("audio.loss.final", "Final audio loss", "of the audio", { $0.audio?.finalLoss }, first: false),
      loss(
        "video.loss.final", "Final video loss", "of the video", { $0.video?.finalLoss }, first: false),
      counted(
        "recovered", .count, "Packets recovered", better: nil, noise: 5,
        meaning: "Packets of both tracks that arrived only after retransmission."
      ) { .value($0.tracks.reduce(0) { $0 + Double($1.recovered) }) },
      counted(
        "keyframeRequests", .count, "Keyframes requested", better: .lower, noise: 2,
        meaning: "Keyframe requests that we sent to the peer."
      ) { .value($0.tracks.reduce(0) { $0 + Double($1.keyframeRequests) }) },
      counted(
        "framesDropped", .count, "Frames dropped", better: .lower, noise: 2,
        meaning: "Frames that stayed incomplete or depended on an incomplete frame."
      ) { .value($0.tracks.reduce(0) { $0 + Double($1.framesDropped) }) },
    ]
    + spread(
      "jitter", title: "Jitter", noise: 0.005,
      meaning: "Interarrival jitter (RFC 3550, 6.4.1) of the track with more jitter, sampled about once a second."
    ) { peer in
      peer.connection.tracks.compactMap(\.jitter).max { $0.p95 < $1.p95 }.map { .success($0) }
        ?? .failure(Absence("no packets were counted"))
    }
    + spread(
      "rtt", title: "Round-trip time", noise: 0.005, meaning: "Round-trip time, sampled about once a second."
    ) {
      peer in
      peer.connection.roundTripTime.map { .success($0) } ?? .failure(Absence("no round-trip time was measured"))
    }
    + [
      sent(
        "sent.packets", .count, "Packets sent", better: nil,
        meaning: "RTP packets that we sent, including retransmissions."
      ) {
        .value($0.packets)
      },
      sent(
        "sent.bitrate", .bitrate, "Bitrate sent", better: nil, noise: 50_000,
        meaning: "RTP payload that we sent, in bits per second."
      ) {
        $0.bitrate.map { .value($0) } ?? .missing("the sent bytes were sampled only once")
      },
      sent(
        "sent.loss", .ratio, "Loss of sent packets", better: .lower, noise: 0.01,
        meaning:
          "Packets that the peer reported as lost, as a share of those that we sent. Packets that a retransmission replaced count, too."
      ) { .value($0.loss, detail: " (\($0.packetsLost) of \($0.packets))") },
      sent(
        "sent.keyframeRequests", .count, "Keyframes the peer requested", better: .lower, noise: 2,
        meaning: "Keyframe requests that the peer sent to us."
      ) { .value($0.keyframeRequests) },
    ]

  private static func loss(
    _ name: String, _ title: String, _ whose: String, _ value: @escaping @Sendable (ConnectionReport) -> Double?,
    first: Bool
  ) -> Measurement {
    counted(
      name, .ratio, title, better: .lower, noise: 0.01,
      meaning: first
        ? "Packets \(whose) that did not arrive at the first attempt, as a share of the packets sent: the loss of the network path."
        : "Packets \(whose) that never arrived, as a share of the packets sent: the loss that remains after retransmission."
    ) { connection in
      value(connection).map { .value($0) } ?? noCounts
    }
  }

  private static func counted(
    _ name: String, _ unit: MeasurementUnit, _ title: String, better: PreferredDirection?, noise: Double,
    meaning: String,
    _ value: @escaping @Sendable (ConnectionReport) -> Figure
  ) -> Measurement {
    peer(name, unit, title, better: better, noise: noise, meaning: meaning) { peer in
      peer.connection.tracks.isEmpty ? noCounts : value(peer.connection)
    }
  }

  private static func sent(
    _ name: String, _ unit: MeasurementUnit, _ title: String, better: PreferredDirection?, noise: Double = 0,
    meaning: String,
    _ value: @escaping @Sendable (ConnectionReport.Sent) -> Figure
  ) -> Measurement {
    peer(name, unit, title, better: better, noise: noise, meaning: meaning) { peer in
      guard let sent = peer.connection.sent, sent.packets > 0 else { return .missing("we sent nothing to the peer") }
      return value(sent)
    }
  }
}

extension ConnectionReport {
  /// The received tracks with packet counts.
  var tracks: [Received] { [audio, video].compactMap { $0 } }

  /// The share of packets of both tracks that did not arrive at the first attempt; nil if nothing was counted.
  package var loss: Double? { share { Double($0.lost) + Double($0.recovered) } }

  /// The share of packets of both tracks that never arrived; nil if nothing was counted.
  package var finalLoss: Double? { share { Double($0.lost) } }

  private func share(_ count: (Received) -> Double) -> Double? {
    let sent = tracks.reduce(0) { $0 + Double($1.sent) }
    guard sent > 0 else { return nil }
    return roundedForReport(min(1, tracks.reduce(0) { $0 + count($1) } / sent))
  }
}
