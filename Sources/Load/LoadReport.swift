public import CallCheck
internal import FoundationEssentials
internal import Media

/// The result of a load. Times are milliseconds; counts are totals of all publishers, except for ``received`` and those of ``viewers``.
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
    /// The number of reports of receivers; without any, nothing is known of loss. Nil where the receiver is ours.
    public var reports: UInt64?
  }

  /// Media received from others.
  public struct Received: Sendable, Hashable, Codable {
    public var frames: UInt64
    public var packets: UInt64
    /// Bytes of media payload.
    public var bytes: UInt64
  }

  /// What viewers received, all of them together or one of them.
  public struct Reception: Sendable, Hashable, Codable {
    public var frames: UInt64
    public var packets: UInt64
    /// Bytes of media payload.
    public var bytes: UInt64
    /// The average bitrate of media payload over ``LoadReport/seconds``, in bits per second.
    public var bitrate: Double
    /// Packets that never arrived.
    public var lost: Lost
    /// Packets that arrived only after they were requested again.
    public var recovered: UInt64
    /// Gaps in a video that are longer than three usual intervals between its frames, and 150 ms longer than one.
    public var freezes: Int
    /// The total and the longest duration of freezes, in milliseconds.
    public var frozenTime: Double
    public var longestFreeze: Double
  }

  /// The viewers of a load.
  public struct Viewers: Sendable, Hashable, Codable {
    /// The number requested.
    public var requested: Int
    /// The numbers of those that were started, joined the room, and were ever connected to someone.
    public var started: Int
    public var joined: Int
    public var connected: Int
    /// The number of those that received a frame.
    public var receiving: Int
    /// The number of those that received a frame of video; without any, nothing is known of freezes. Nil in the JSON of an earlier
    /// version.
    public var receivingVideo: Int?
    /// As for publishers.
    public var joinTime: Distribution?
    public var connectTime: Distribution?
    /// From the join to the first frame of any kind.
    public var firstFrameTime: Distribution?
    /// What all of them received.
    public var received: Reception
    /// The bitrate of the viewer that received least, of those that were started; nil if none was.
    public var lowestBitrate: Double?
  }

  /// One publisher or viewer. Values that were not measured are nil.
  public struct Participant: Sendable, Hashable, Codable {
    /// From 1, in the order of their start. Publishers and viewers are counted apart.
    public var number: Int
    /// Its newest id in the room.
    public var id: String?
    /// From the first attempt to connect to the server until the join.
    public var joinTime: Double?
    /// From the join, or from the other side's offer if that arrived later, to its first connection.
    public var connectTime: Double?
    /// From the join to the first frame of a viewer.
    public var firstFrameTime: Double?
    /// The number of others to whom it was ever connected, and of its connections at the end.
    public var peers: Int
    public var connections: Int
    /// What a publisher sent, what others reported as lost of that, and how often they requested a keyframe.
    public var sent: Sent?
    public var lost: Lost?
    public var keyframeRequests: UInt64?
    /// What a viewer received, or a publisher that receives.
    public var received: Reception?
    /// The longest one of its connections, as last measured.
    public var roundTripTime: Double?
    /// Why it failed, was never connected, or carried no media because others refused it, as a sentence.
    public var failure: String?

    /// Whether no packet was sent or received.
    fileprivate var carriedNothing: Bool { (sent?.packets ?? 0) + (received?.packets ?? 0) == 0 }
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
  /// Seconds from the start of the last participant to the end; from the beginning if some had not started.
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
  /// Media that viewers, and publishers that receive, received from others in the room. It is counted and discarded.
  public var received: Received
  /// What viewers measured; nil without viewers.
  public var viewers: Viewers?
  /// What data channels carried; nil without ``RoomLoad/Settings/dataBitrate``.
  public var data: DataTotals?
  /// The lateness that 99 of 100 frames did not exceed when they were handed to their publisher: whether this machine
  /// kept up. Nil if no packet was sent.
  public var lateness: Double?
  /// The failures of publishers and viewers, sorted by count, the most frequent first.
  public var failures: [Failure]
  /// What others or the server refused, by the number of publishers and viewers that were refused it, for example a codec. Other
  /// media may flow nevertheless. A refusal that ended a publisher or viewer is only in ``failures``. Nil in the JSON of an earlier version.
  public var refused: [Failure]?
  /// A row for each publisher and each viewer; nil in the JSON of an earlier version.
  public var eachPublisher: [Participant]?
  public var eachViewer: [Participant]?
  /// The results of the rules; nil if ``judge(by:)`` was not called.
  public var results: [RuleResult]?

  /// Whether each started publisher and viewer was connected to someone, and was not refused all media.
  public var isComplete: Bool {
    connected == started && (viewers.map { $0.connected == $0.started } ?? true) && unserved == nil
  }

  /// What a reader must know who sees only that everyone is connected, as a sentence: no viewer received a frame. Nil otherwise.
  public var warning: String? {
    guard let viewers, viewers.connected > 0, viewers.receiving == 0 else { return nil }
    return received.packets == 0 && sent.packets == 0
      ? "No viewer received a frame: nobody publishes there." : "No viewer received a frame."
  }

  /// The number of publishers and viewers that joined the room.
  public var allJoined: Int { joined + (viewers?.joined ?? 0) }

  /// The number of started publishers and viewers that were never connected to anyone, or carried no media because others refused
  /// it, and why, as a sentence: the most frequent reason. Nil if there were none.
  public var unserved: (count: Int, reason: String)? {
    let missing = ((eachPublisher ?? []) + (eachViewer ?? [])).filter { $0.connectTime == nil || $0.carriedNothing }
    var counts: [String: Int] = [:]
    for reason in missing.compactMap(\.failure) { counts[reason, default: 0] += 1 }
    let most = counts.max { ($0.value, $1.key) < ($1.value, $0.key) }
    return most.map { (counts.values.reduce(0, +), $0.key) }
  }

  /// How many of those that were started were never connected or carried no media, and why, as sentences; nil if ``isComplete``.
  package var unconnected: String? {
    if isComplete { return nil }
    let kind = viewers == nil ? "Publishers" : publishers == 0 ? "Viewers" : "Publishers and viewers"
    let allStarted = started + (viewers?.started ?? 0)
    let allConnected = connected + (viewers?.connected ?? 0)
    let what = allConnected < allStarted ? "were never connected" : "were refused all media"
    let unserved = unserved
    let count = unserved?.count ?? allStarted - allConnected
    return "\(kind) that \(what): \(count) of \(allStarted).\(unserved.map { " \($0.reason)" } ?? "")"
  }

  /// The number of publishers and viewers that failed, were never connected, or carried no media because others refused it. In the
  /// JSON of an earlier version, the number of failures.
  var failed: Int {
    guard eachPublisher != nil || eachViewer != nil else { return failures.reduce(0) { $0 + $1.count } }
    return ((eachPublisher ?? []) + (eachViewer ?? [])).count { $0.failure != nil }
  }

  /// The object as JSON, with the keys in alphabetical order and a line end. Invisible characters are escaped.
  public var json: String {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      return String(decoding: try encoder.encode(self), as: UTF8.self).escapingInvisibleInJSON + "\n"
    }
  }
}

extension LoadReport.Viewers {
  /// Whether any of them received video.
  var receiveVideo: Bool { (receivingVideo ?? receiving) > 0 }
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
