internal import CallCheck
internal import FoundationEssentials

/// The result of a load. Times are milliseconds, counts are totals of all publishers.
public struct LoadReport: Sendable, Hashable, Codable {
  /// Media sent to receivers.
  public struct Sent: Sendable, Hashable, Codable {
    public var frames: UInt64
    /// RTP packets, including retransmissions.
    public var packets: UInt64
    /// Bytes of RTP payload.
    public var bytes: UInt64
    /// The average bitrate of RTP payload of all publishers together over ``LoadReport/seconds``, in bits per second.
    public var bitrate: Double
  }

  /// Packets that were lost on the way to receivers.
  public struct Lost: Sendable, Hashable, Codable {
    /// Packets that receivers reported as lost, including those that a retransmission recovered.
    public var packets: UInt64
    /// The fraction of all packets sent, 0 to 1.
    public var fraction: Double
  }

  /// Media received from others.
  public struct Received: Sendable, Hashable, Codable {
    public var frames: UInt64
    public var packets: UInt64
    /// Bytes of media payload.
    public var bytes: UInt64
  }

  /// What the data channels of all publishers carried.
  public struct DataTotals: Sendable, Hashable, Codable {
    /// The number of channels that were opened.
    public var opened: Int
    /// Messages that were sent, and those of them that came back.
    public var sent: Int
    public var returned: Int
    /// Messages that did not come back, although they had 2 s.
    public var lost: Int
    /// Messages that came back out of order or twice.
    public var disordered: Int
    /// The payload that came back on all channels together, in bits per second.
    public var throughput: Double
    /// The median of each channel.
    public var roundTripTime: Distribution?
  }

  /// An error, and how often it occurred.
  public struct Failure: Sendable, Hashable, Codable {
    public var reason: String
    public var count: Int
  }

  /// The version of this object; incremented only when a field changes its meaning or is removed.
  public private(set) var version = 1
  public var room: String
  public var server: String
  /// The input, in one text line.
  public var source: String
  /// The number of publishers requested.
  public var publishers: Int
  /// The number of publishers started; lower if the load ended before all had started.
  public var started: Int
  /// The number of publishers that joined the room.
  public var joined: Int
  /// The number of publishers that were ever connected to someone.
  public var connected: Int
  /// The number of connections at the end.
  public var connections: Int
  /// Seconds from the start of the last publisher to the end; from the beginning if some had not started.
  public var seconds: Double
  /// From the first attempt to connect to the server until the join; like the other distributions, missing if there are
  /// no values.
  public var joinTime: Distribution?
  /// From the join, or from the other side's offer if that arrived later, to the end of ICE and DTLS.
  public var connectTime: Distribution?
  /// The latest value of each connection.
  public var roundTripTime: Distribution?
  public var sent: Sent
  public var lost: Lost
  /// The number of keyframe requests from receivers.
  public var keyframeRequests: UInt64
  /// Media received from others in the room. It is counted and discarded.
  public var received: Received
  /// What data channels carried; nil without ``RoomLoad/Settings/dataBitrate``.
  public var data: DataTotals?
  /// The lateness that 99 of 100 frames did not exceed when they were handed to their publisher: whether this machine
  /// kept up.
  public var lateness: Double?
  /// Sorted by count, the most frequent first.
  public var failures: [Failure]

  /// Whether each started publisher was connected to someone.
  public var isComplete: Bool { connected == started }

  /// The object as JSON, with the keys in alphabetical order.
  public var json: String {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
  }
}

extension LoadReport {
  /// Computes the report from all publishers' records.
  ///
  /// - Parameters:
  ///   - records: One for each publisher that was started.
  ///   - publishers: The number requested.
  ///   - seconds: Since the last publisher started, or since the beginning if some have not started.
  ///   - bytesBefore: The bytes sent until then.
  package init(
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
      data: Self.data(records.flatMap(\.data)), lateness: lateness.quantile(0.99),
      failures: reasons.map { Failure(reason: $0.key, count: $0.value) }
        .sorted { ($1.count, $0.reason) < ($0.count, $1.reason) })
  }

  private static func data(_ reports: [DataReport]) -> DataTotals? {
    if reports.isEmpty { return nil }
    func sum(_ count: KeyPath<DataReport, Int>) -> Int { reports.reduce(0) { $0 + $1[keyPath: count] } }
    return DataTotals(
      opened: reports.count { $0.open != nil }, sent: sum(\.sent), returned: sum(\.returned), lost: sum(\.lost),
      disordered: sum(\.disordered), throughput: reports.reduce(0) { $0 + ($1.throughput ?? 0) },
      roundTripTime: milliseconds(reports.compactMap(\.roundTrip?.p50)))
  }

  private static func milliseconds(_ seconds: [Double]) -> Distribution? {
    // Rounded to tenths, the useful precision.
    Distribution(seconds.map { ($0 * 10_000).rounded() / 10 })
  }
}

extension LoadReport {
  /// The distribution of repeated measurements.
  public struct Distribution: Sendable, Hashable, Codable {
    /// The number of values.
    public let count: Int
    public let median: Double
    /// 95 of 100 values are at most this.
    public let p95: Double
    public let worst: Double

    /// Nil if there are no values. Uses the nearest rank, so that each result is one of the values.
    package init?(_ values: [Double]) {
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
}
