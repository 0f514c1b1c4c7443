import Media

extension Measurement {
  static let ofConnection: [Measurement] =
    [
      loss("loss", "Loss", "of both tracks", \.loss, first: true),
      loss("audio.loss", "Loss of the audio", "of the audio", { $0.audio?.loss }, first: true),
      loss("video.loss", "Loss of the frames", "of the frames", { $0.video?.loss }, first: true),
      loss("loss.final", "Loss for good", "of both tracks", \.finalLoss, first: false),
      loss("audio.loss.final", "Loss of the audio for good", "of the audio", { $0.audio?.finalLoss }, first: false),
      loss(
        "video.loss.final", "Loss of the frames for good", "of the frames", { $0.video?.finalLoss }, first: false),
      counted(
        "recovered", .count, "Packets recovered", better: nil, noise: 5,
        meaning: "Packets of both tracks that came only after they were requested again."
      ) { .value($0.tracks.reduce(0) { $0 + Double($1.recovered) }) },
      counted(
        "keyframeRequests", .count, "Keyframes requested", better: .lower, noise: 2,
        meaning: "Keyframes that we asked the peer for."
      ) { .value($0.tracks.reduce(0) { $0 + Double($1.keyframeRequests) }) },
      counted(
        "framesDropped", .count, "Frames dropped", better: .lower, noise: 2,
        meaning: "Frames that were begun but not completed, or depended on one that was not."
      ) { .value($0.tracks.reduce(0) { $0 + Double($1.framesDropped) }) },
    ]
    + spread(
      "jitter", title: "Jitter", noise: 0.005,
      meaning: "Interarrival jitter (RFC 3550, 6.4.1) of the track that has more, about once a second."
    ) { peer in
      peer.connection.tracks.compactMap(\.jitter).max { $0.p95 < $1.p95 }.map { .success($0) }
        ?? .failure(Absence("no packets were counted"))
    }
    + spread(
      "rtt", title: "Round trip", noise: 0.005, meaning: "The time for the way there and back, about once a second."
    ) {
      peer in
      peer.connection.roundTripTime.map { .success($0) } ?? .failure(Absence("no round trip was measured"))
    }
    + [
      sent(
        "sent.packets", .count, "Packets sent", better: nil,
        meaning: "RTP packets that we sent, those sent again included."
      ) {
        .value($0.packets)
      },
      sent(
        "sent.bitrate", .bitrate, "Bitrate sent", better: nil, noise: 50_000,
        meaning: "Bits of RTP payload a second that we sent."
      ) {
        $0.bitrate.map { .value($0) } ?? .missing("what was sent was counted only once")
      },
      sent(
        "sent.loss", .share, "Loss of what we sent", better: .lower, noise: 0.01,
        meaning:
          "Packets that the peer reported as lost, as a share of those that we sent. What came at the second try counts, too."
      ) { .value($0.loss, detail: " (\($0.packetsLost) of \($0.packets))") },
      sent(
        "sent.keyframeRequests", .count, "Keyframes the peer requested", better: .lower, noise: 2,
        meaning: "Keyframes that the peer asked us for."
      ) { .value($0.keyframeRequests) },
    ]

  private static func loss(
    _ name: String, _ title: String, _ whose: String, _ value: @escaping @Sendable (ConnectionReport) -> Double?,
    first: Bool
  ) -> Measurement {
    counted(
      name, .share, title, better: .lower, noise: 0.01,
      meaning: first
        ? "Packets \(whose) that did not come at the first try, as a share of those that were sent: what the line lost."
        : "Packets \(whose) that never came, as a share of those that were sent: what was left after packets were requested again."
    ) { connection in
      value(connection).map { .value($0) } ?? noCounts
    }
  }

  private static func counted(
    _ name: String, _ unit: MeasurementUnit, _ title: String, better: Better?, noise: Double, meaning: String,
    _ value: @escaping @Sendable (ConnectionReport) -> Figure
  ) -> Measurement {
    peer(name, unit, title, better: better, noise: noise, meaning: meaning) { peer in
      peer.connection.tracks.isEmpty ? noCounts : value(peer.connection)
    }
  }

  private static func sent(
    _ name: String, _ unit: MeasurementUnit, _ title: String, better: Better?, noise: Double = 0, meaning: String,
    _ value: @escaping @Sendable (ConnectionReport.Sent) -> Figure
  ) -> Measurement {
    peer(name, unit, title, better: better, noise: noise, meaning: meaning) { peer in
      guard let sent = peer.connection.sent, sent.packets > 0 else { return .missing("we sent nothing to the peer") }
      return value(sent)
    }
  }
}

extension ConnectionReport {
  /// The received tracks that were counted.
  var tracks: [Received] { [audio, video].compactMap { $0 } }

  /// What of both tracks did not come at the first try; nil when nothing was counted.
  package var loss: Double? { share { Double($0.lost) + Double($0.recovered) } }

  /// What of both tracks never came; nil when nothing was counted.
  package var finalLoss: Double? { share { Double($0.lost) } }

  private func share(_ count: (Received) -> Double) -> Double? {
    let sent = tracks.reduce(0) { $0 + Double($1.sent) }
    guard sent > 0 else { return nil }
    return roundedForReport(min(1, tracks.reduce(0) { $0 + count($1) } / sent))
  }
}
