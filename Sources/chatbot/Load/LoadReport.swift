import FoundationEssentials

/// What a load came to: the object that `--json` prints. Times are milliseconds, counts are of all publishers together.
struct LoadReport: Sendable, Hashable, Encodable {
  /// What went to receivers.
  struct Sent: Sendable, Hashable, Encodable {
    var frames: UInt64
    /// RTP packets, those sent again included.
    var packets: UInt64
    /// Bytes of RTP payload.
    var bytes: UInt64
    /// Bits of RTP payload a second on average, all publishers together, over ``seconds``.
    var bitrate: Double
  }

  struct Lost: Sendable, Hashable, Encodable {
    /// Packets that receivers reported as lost. What came at the second try counts here too.
    var packets: UInt64
    /// Of all packets sent, 0 to 1.
    var fraction: Double
  }

  struct Received: Sendable, Hashable, Encodable {
    var frames: UInt64
    var packets: UInt64
    /// Bytes of media payload.
    var bytes: UInt64
  }

  /// What went wrong, and how often.
  struct Failure: Sendable, Hashable, Encodable {
    var reason: String
    var count: Int
  }

  /// The form of this object; grows only when a field changes its meaning or goes.
  let version = 1
  var room: String
  var server: String
  /// What is played, in one line.
  var source: String
  /// How many publishers were requested.
  var publishers: Int
  /// How many of them began; fewer after a signal while they still came.
  var started: Int
  /// How many the server let into the room.
  var joined: Int
  /// How many were connected to somebody, now or before.
  var connected: Int
  /// Connections that stood at the end.
  var connections: Int
  /// Seconds from when the last publisher came to the end; from the beginning if some were still to come.
  var seconds: Double
  /// From the first attempt to reach the server to the room; missing when nobody joined, as the others are
  /// when there is nothing to tell.
  var joinTime: Distribution?
  /// From joining, or from the other side's offer when that came later, to the end of ICE and DTLS.
  var connectTime: Distribution?
  /// The newest of each connection.
  var roundTripTime: Distribution?
  var sent: Sent
  var lost: Lost
  /// Keyframes that receivers requested, each request counted.
  var keyframeRequests: UInt64
  /// What came from others in the room. It is counted and thrown away.
  var received: Received
  /// 99 of 100 frames were handed to their publisher no later than this after they were due: whether this machine kept up.
  var lateness: Double?
  /// The most frequent first.
  var failures: [Failure]

  /// Whether each publisher that began was connected to somebody.
  var isComplete: Bool { connected == started }

  /// The object in one piece, with the keys in alphabetical order.
  var json: String {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
  }
}

extension LoadReport {
  /// What everybody's records come to.
  ///
  /// - Parameters:
  ///   - records: one a publisher that was started.
  ///   - publishers: how many were requested.
  ///   - seconds: since the last one came, or since the beginning if some are still to come.
  ///   - bytesBefore: what had been sent until then.
  init(
    records: [PublisherRecord], publishers: Int, room: String, server: String, source: String, seconds: Double,
    bytesBefore: UInt64, lateness: Lateness
  ) {
    let totals = records.reduce(into: PublisherRecord.Totals()) { $0 += $1.totals }
    var reasons: [String: Int] = [:]
    for failure in records.flatMap(\.failures) { reasons[failure, default: 0] += 1 }
    self.init(
      room: room, server: server, source: source, publishers: publishers,
      started: records.count(where: \.hasStarted), joined: records.count(where: \.hasJoined),
      connected: records.count(where: \.hasConnected),
      connections: records.reduce(0) { $0 + $1.connections }, seconds: seconds,
      joinTime: Self.milliseconds(records.compactMap(\.joinTime)),
      connectTime: Self.milliseconds(records.flatMap(\.connectTimes)),
      roundTripTime: Self.milliseconds(records.flatMap(\.roundTripTimes)),
      sent: Sent(
        frames: totals.framesSent, packets: totals.packetsSent, bytes: totals.bytesSent,
        bitrate: seconds > 0 ? Double(totals.bytesSent - min(bytesBefore, totals.bytesSent)) * 8 / seconds : 0),
      lost: Lost(
        packets: totals.packetsLost,
        fraction: totals.packetsSent > 0 ? min(1, Double(totals.packetsLost) / Double(totals.packetsSent)) : 0),
      keyframeRequests: totals.keyframeRequests,
      received: Received(
        frames: totals.framesReceived, packets: totals.packetsReceived, bytes: totals.bytesReceived),
      lateness: lateness.quantile(0.99),
      failures: reasons.map { Failure(reason: $0.key, count: $0.value) }
        .sorted { ($1.count, $0.reason) < ($0.count, $1.reason) })
  }

  private static func milliseconds(_ seconds: [Double]) -> Distribution? {
    // Tenths are what can be distinguished.
    Distribution(seconds.map { ($0 * 10_000).rounded() / 10 })
  }
}

/// How values are spread: what people ask of many measurements of one thing.
struct Distribution: Sendable, Hashable, Encodable {
  /// So many values.
  let count: Int
  let median: Double
  /// 95 of 100 values are at most this.
  let p95: Double
  let worst: Double

  /// Nil when there are no values. By nearest rank, so that each figure is one of the values.
  init?(_ values: [Double]) {
    let sorted = values.filter(\.isFinite).sorted()
    guard let worst = sorted.last else { return nil }
    count = sorted.count
    median = Self.rank(0.5, of: sorted)
    p95 = Self.rank(0.95, of: sorted)
    self.worst = worst
  }

  private static func rank(_ share: Double, of sorted: [Double]) -> Double {
    let index = Int((share * Double(sorted.count)).rounded(.up)) - 1
    return sorted[min(max(0, index), sorted.count - 1)]
  }
}
