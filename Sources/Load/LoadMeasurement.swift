package import CallCheck

/// A measurement of a load, which a rule can name.
package struct LoadMeasurement: Sendable {
  /// For example `publishers.timeToConnect.p95`.
  package let name: String
  package let unit: MeasurementUnit
  /// The heading for a value: "Connected publishers".
  package let title: String
  /// Why there may be no value, as a clause.
  package let absence: String
  /// Returns the value in the measurement's own unit; nil if there is none.
  package let value: @Sendable (LoadReport) -> Double?

  init(
    _ name: String, _ unit: MeasurementUnit, _ title: String, absence: String = "nothing was measured",
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
      LoadMeasurement("publishers.started", .count, "Started publishers") { Double($0.started) },
      LoadMeasurement("publishers.joined", .count, "Publishers that joined the room") { Double($0.joined) },
      LoadMeasurement("publishers.connected", .count, "Publishers that were connected to someone") {
        Double($0.connected)
      },
    ]
    + times("publishers.timeToJoin", "Time to join the room", "no publisher joined the room") { $0.joinTime }
    + times("publishers.timeToConnect", "Time to connect", "no publisher was connected") { $0.connectTime }
    + [
      LoadMeasurement("sent.packets", .count, "Sent packets") { Double($0.sent.packets) },
      LoadMeasurement("sent.frames", .count, "Sent frames") { Double($0.sent.frames) },
      LoadMeasurement("sent.bitrate", .bitrate, "Sent bitrate of all publishers") { $0.sent.bitrate },
      LoadMeasurement("sent.loss", .ratio, "Loss that receivers reported", absence: "nothing was sent") {
        $0.sent.packets > 0 ? $0.lost.fraction : nil
      },
      LoadMeasurement("sent.keyframeRequests", .count, "Keyframe requests of receivers") {
        Double($0.keyframeRequests)
      },
      LoadMeasurement("lateness", .time, "Lateness of frames (99 of 100)", absence: "no frame was sent") {
        $0.lateness.map { $0 / 1_000 }
      },
    ]

  private static let noViewers = "there were no viewers"

  private static let ofViewers: [LoadMeasurement] =
    [
      viewers("viewers.started", .count, "Started viewers") { Double($0.started) },
      viewers("viewers.joined", .count, "Viewers that joined the room") { Double($0.joined) },
      viewers("viewers.connected", .count, "Viewers that were connected to someone") { Double($0.connected) },
      viewers("viewers.receiving", .count, "Viewers that received a frame") { Double($0.receiving) },
    ]
    + times("viewers.timeToJoin", "Time of viewers to join the room", "no viewer joined the room") {
      $0.viewers?.joinTime
    }
    + times("viewers.timeToConnect", "Time of viewers to connect", "no viewer was connected") {
      $0.viewers?.connectTime
    }
    + times("viewers.timeToFirstFrame", "Time of viewers to the first frame", "no viewer received a frame") {
      $0.viewers?.firstFrameTime
    }
    + [
      viewers("received.packets", .count, "Packets that viewers received") { Double($0.received.packets) },
      viewers("received.frames", .count, "Frames that viewers received") { Double($0.received.frames) },
      viewers("received.bitrate", .bitrate, "Received bitrate of all viewers") { $0.received.bitrate },
      viewers("received.bitrate.lowest", .bitrate, "Received bitrate of the viewer with the lowest one") {
        $0.lowestBitrate
      },
      viewers("received.loss", .ratio, "Loss of what viewers received") {
        $0.received.packets > 0 ? $0.received.lost.fraction : nil
      },
      viewers("received.freezes", .count, "Freezes of all viewers") { Double($0.received.freezes) },
      viewers("received.freeze.longest", .time, "Longest freeze of a viewer") { $0.received.longestFreeze / 1_000 },
      viewers("received.freeze.total", .time, "Total duration of freezes of all viewers") {
        $0.received.frozenTime / 1_000
      },
    ]

  private static let ofConnections: [LoadMeasurement] =
    [LoadMeasurement("connections", .count, "Connections of publishers at the end") { Double($0.connections) }]
    + times("rtt", "Round-trip time", "no round-trip time was measured") { $0.roundTripTime }
    + [
      LoadMeasurement("failures", .count, "Failures") { report in
        Double(report.failures.reduce(0) { $0 + $1.count })
      }
    ]

  private static let noData = "there were no data channels; use --data"

  private static let ofData: [LoadMeasurement] =
    [
      LoadMeasurement("data.opened", .count, "Opened data channels", absence: noData) {
        $0.data.map { Double($0.opened) }
      },
      LoadMeasurement("data.loss", .ratio, "Loss of messages", absence: noData) { report in
        report.data.flatMap { $0.sent > 0 ? Double($0.lost) / Double($0.sent) : nil }
      },
      LoadMeasurement("data.throughput", .bitrate, "Throughput of all data channels", absence: noData) {
        $0.data?.throughput
      },
    ] + times("data.rtt", "Round-trip time of messages", noData) { $0.data?.roundTripTime }

  private static func viewers(
    _ name: String, _ unit: MeasurementUnit, _ title: String,
    _ value: @escaping @Sendable (LoadReport.Viewers) -> Double?
  ) -> LoadMeasurement {
    LoadMeasurement(name, unit, title, absence: noViewers) { $0.viewers.flatMap(value) }
  }

  private static func times(
    _ name: String, _ title: String, _ absence: String,
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
