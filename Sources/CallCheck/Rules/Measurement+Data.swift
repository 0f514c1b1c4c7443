extension Measurement {
  /// Measurements of the data channel that `--data` opens.
  static let ofData: [Measurement] =
    [
      data(
        "data.open", .time, "Opening of the data channel", better: .lower, noise: 0.02,
        meaning: "Time from asking for a data channel until the peer acknowledged it."
      ) { data in
        data.open.map { .value($0) } ?? .missing("the peer opened no data channel with us")
      },
      data(
        "data.loss", .ratio, "Messages lost", better: .lower, noise: 0.005,
        meaning: "Share of our messages that did not come back within 2 s."
      ) { data in
        data.sent == 0
          ? .missing("no message was sent")
          : .value(Double(data.lost) / Double(data.sent), detail: ", \(data.lost) of \(data.sent)")
      },
      data(
        "data.order", .count, "Messages out of order", better: .lower, noise: 0,
        meaning: "Messages that came back after one that was sent later, or a second time."
      ) { data in data.returned == 0 ? noneReturned : .value(data.disordered) },
      data(
        "data.throughput", .bitrate, "Returned data", better: .higher, noise: 10_000,
        meaning: "Payload that came back on the data channel in a second."
      ) { data in data.throughput.map { .value($0) } ?? noneReturned },
    ]
    + spread(
      "data.rtt", title: "Round trip on the data channel", noise: 0.01,
      meaning: "Time from sending a message to its return."
    ) { peer in
      guard let data = peer.data else { return .failure(Absence(notAsked)) }
      return data.roundTrip.map { .success($0) } ?? .failure(Absence("the peer sent no message back"))
    }

  private static let notAsked = "--data was not given, or the peer was never connected"
  private static let noneReturned = Figure.missing("the peer sent no message back")

  private static func data(
    _ name: String, _ unit: MeasurementUnit, _ title: String, better: PreferredDirection, noise: Double,
    meaning: String, _ value: @escaping @Sendable (DataReport) -> Figure
  ) -> Measurement {
    peer(name, unit, title, better: better, noise: noise, meaning: meaning) { peer in
      peer.data.map(value) ?? .missing(notAsked)
    }
  }
}
