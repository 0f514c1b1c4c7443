package import CallCheck

/// A measurement of a load, which a rule can name.
package struct LoadMeasurement: Sendable {
  /// For example `publishers.timeToConnect.p95`.
  package let name: String
  package let unit: MeasurementUnit
  /// The heading for a value: "Connected publishers".
  package let title: String
  /// Why there is no value in a report that has none, as a clause.
  package let absence: @Sendable (LoadReport) -> String
  /// Returns the value in the measurement's own unit; nil if it was not measured.
  package let value: @Sendable (LoadReport) -> Double?

  private init(
    _ name: String, _ unit: MeasurementUnit, _ title: String,
    absence: @escaping @Sendable (LoadReport) -> String = { _ in "nothing was measured" },
    value: @escaping @Sendable (LoadReport) -> Double?
  ) {
    self.name = name
    self.unit = unit
    self.title = title
    self.absence = absence
    self.value = value
  }

  /// Returns the measurement with this name; nil if there is none.
  package static func named(_ name: String) -> LoadMeasurement? { catalogue.first { $0.name == name } }

  /// All measurements, in the order of the documentation.
  package static let catalogue: [LoadMeasurement] = ofPublishers + ofViewers + ofConnections + ofData

  private static let ofPublishers: [LoadMeasurement] =
    [
      publishers("publishers.started", .count, "Started publishers") { Double($0.started) },
      publishers("publishers.joined", .count, "Publishers that joined the room") { Double($0.joined) },
      publishers("publishers.connected", .count, "Publishers that were connected to someone") { Double($0.connected) },
    ]
    + times("publishers.timeToJoin", "Time to join the room", noPublishers(or: "no publisher joined the room")) {
      $0.joinTime
    }
    + times("publishers.timeToConnect", "Time to connect", noPublishers(or: "no publisher was connected")) {
      $0.connectTime
    }
    + [
      publishers("sent.packets", .count, "Sent packets") { Double($0.sent.packets) },
      publishers("sent.frames", .count, "Sent frames") { Double($0.sent.frames) },
      publishers("sent.bitrate", .bitrate, "Sent bitrate of all publishers") { $0.sent.bitrate },
      LoadMeasurement("sent.loss", .ratio, "Loss that receivers reported") { report in
        report.sent.packets > 0 ? "no receiver reported" : noPublishers(or: "nothing was sent")(report)
      } value: {
        $0.sent.packets > 0 && $0.lost.reports != 0 ? $0.lost.fraction : nil
      },
      publishers(
        "sent.keyframeRequests", .count, "Keyframe requests of receivers", or: "no publisher was connected"
      ) {
        $0.connected > 0 ? Double($0.keyframeRequests) : nil
      },
      publishers("lateness", .time, "Lateness of frames (99 of 100)", or: "no frame was sent") {
        $0.lateness.map { $0 / 1_000 }
      },
    ]

  private static let noVideo = "no viewer received video"

  private static let ofViewers: [LoadMeasurement] =
    [
      viewers("viewers.started", .count, "Started viewers") { Double($0.started) },
      viewers("viewers.joined", .count, "Viewers that joined the room") { Double($0.joined) },
      viewers("viewers.connected", .count, "Viewers that were connected to someone") { Double($0.connected) },
      viewers("viewers.receiving", .count, "Viewers that received a frame") { Double($0.receiving) },
    ]
    + times("viewers.timeToJoin", "Time of viewers to join the room", noViewers(or: "no viewer joined the room")) {
      $0.viewers?.joinTime
    }
    + times("viewers.timeToConnect", "Time of viewers to connect", noViewers(or: "no viewer was connected")) {
      $0.viewers?.connectTime
    }
    + times(
      "viewers.timeToFirstFrame", "Time of viewers to the first frame", noViewers(or: "no viewer received a frame")
    ) {
      $0.viewers?.firstFrameTime
    }
    + [
      viewers("received.packets", .count, "Packets that viewers received") { Double($0.received.packets) },
      viewers("received.frames", .count, "Frames that viewers received") { Double($0.received.frames) },
      viewers("received.bitrate", .bitrate, "Received bitrate of all viewers") { $0.received.bitrate },
      viewers(
        "received.bitrate.lowest", .bitrate, "Received bitrate of the viewer with the lowest one",
        or: "no viewer was started"
      ) {
        $0.lowestBitrate
      },
      viewers("received.loss", .ratio, "Loss of what viewers received", or: "no viewer received a packet") {
        $0.received.packets > 0 ? $0.received.lost.fraction : nil
      },
      viewers("received.freezes", .count, "Freezes of all viewers", or: noVideo) {
        $0.receiveVideo ? Double($0.received.freezes) : nil
      },
      viewers("received.freeze.longest", .time, "Longest freeze of a viewer", or: noVideo) {
        $0.receiveVideo ? $0.received.longestFreeze / 1_000 : nil
      },
      viewers("received.freeze.total", .time, "Total duration of freezes of all viewers", or: noVideo) {
        $0.receiveVideo ? $0.received.frozenTime / 1_000 : nil
      },
    ]

  private static let ofConnections: [LoadMeasurement] =
    [publishers("connections", .count, "Connections of publishers at the end") { Double($0.connections) }]
    + times("rtt", "Round-trip time", { _ in "no round-trip time was measured" }) { $0.roundTripTime }
    + [LoadMeasurement("failures", .count, "Publishers and viewers with a failure") { Double($0.failed) }]

  private static let ofData: [LoadMeasurement] =
    [
      LoadMeasurement("data.opened", .count, "Opened data channels", absence: noData(or: "nothing was measured")) {
        $0.data.map { Double($0.opened) }
      },
      LoadMeasurement("data.loss", .ratio, "Loss of messages", absence: noData(or: "no message had 2 s to come back")) {
        $0.data.flatMap { $0.returned + $0.lost > 0 ? Double($0.lost) / Double(max(1, $0.sent)) : nil }
      },
      LoadMeasurement(
        "data.throughput", .bitrate, "Throughput of all data channels", absence: noData(or: "nothing was measured")
      ) {
        $0.data.flatMap { $0.opened > 0 ? $0.throughput : nil }
      },
    ]
    + times("data.rtt", "Round-trip time of messages", noData(or: "no message came back")) { $0.data?.roundTripTime }

  // MARK: Why there is no value

  private static func noPublishers(or absence: String) -> @Sendable (LoadReport) -> String {
    { $0.publishers == 0 ? "there were no publishers" : absence }
  }

  private static func noViewers(or absence: String) -> @Sendable (LoadReport) -> String {
    { $0.viewers == nil ? "there were no viewers" : absence }
  }

  private static func noData(or absence: String) -> @Sendable (LoadReport) -> String {
    { report in
      guard let data = report.data else { return "there were no data channels; use --data" }
      return data.opened == 0 ? "no data channel was opened" : absence
    }
  }

  // MARK: Groups

  private static func publishers(
    _ name: String, _ unit: MeasurementUnit, _ title: String, or absence: String = "nothing was measured",
    _ value: @escaping @Sendable (LoadReport) -> Double?
  ) -> LoadMeasurement {
    LoadMeasurement(name, unit, title, absence: noPublishers(or: absence)) { $0.publishers == 0 ? nil : value($0) }
  }

  private static func viewers(
    _ name: String, _ unit: MeasurementUnit, _ title: String, or absence: String = "nothing was measured",
    _ value: @escaping @Sendable (LoadReport.Viewers) -> Double?
  ) -> LoadMeasurement {
    LoadMeasurement(name, unit, title, absence: noViewers(or: absence)) { $0.viewers.flatMap(value) }
  }

  private static func times(
    _ name: String, _ title: String, _ absence: @escaping @Sendable (LoadReport) -> String,
    _ times: @escaping @Sendable (LoadReport) -> LoadReport.Distribution?
  ) -> [LoadMeasurement] {
    func one(
      _ ending: String, _ words: String, _ value: @escaping @Sendable (LoadReport.Distribution) -> Double
    ) -> LoadMeasurement {
      LoadMeasurement("\(name).\(ending)", .time, "\(title) (\(words))", absence: absence) { report in
        times(report).map { value($0) / 1_000 }
      }
    }
    return [
      one("p50", "median", \.median), one("p95", "95th percentile", \.p95), one("worst", "worst value", \.worst),
    ]
  }
}
