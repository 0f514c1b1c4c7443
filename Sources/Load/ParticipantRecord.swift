package import BotPeer
package import CallCheck
package import Media

/// The history of one publisher or viewer. Pure: events and times are passed in.
package struct ParticipantRecord: Sendable {
  /// The counters of connections.
  package struct Totals: Sendable, Hashable {
    package var framesSent: UInt64 = 0
    package var packetsSent: UInt64 = 0
    package var bytesSent: UInt64 = 0
    package var packetsLost: UInt64 = 0
    /// The reports of receivers on what was sent.
    package var receptionReports: UInt64 = 0
    package var keyframeRequests: UInt64 = 0
    package var framesReceived: UInt64 = 0
    package var packetsReceived: UInt64 = 0
    package var bytesReceived: UInt64 = 0
    /// Packets that never arrived, and those that arrived only after they were requested again.
    package var packetsMissing: UInt64 = 0
    package var packetsRecovered: UInt64 = 0

    package init() {}

    package init(_ statistics: PeerStatistics) {
      framesSent = statistics.framesSent
      packetsSent = statistics.packetsSent
      bytesSent = statistics.bytesSent
      // Duplicates can make the receiver's count negative (RFC 3550, 6.4.1).
      packetsLost = UInt64(max(0, statistics.packetsLost))
      receptionReports = statistics.receptionReports
      keyframeRequests = statistics.keyframeRequests
      for track in statistics.received.values {
        framesReceived += track.frames
        packetsReceived += track.packetsReceived
        bytesReceived += track.bytesReceived
        packetsMissing += track.packetsLost
        packetsRecovered += track.packetsRecovered
      }
    }

    package static func += (sum: inout Totals, more: Totals) {
      sum.framesSent += more.framesSent
      sum.packetsSent += more.packetsSent
      sum.bytesSent += more.bytesSent
      sum.packetsLost += more.packetsLost
      sum.receptionReports += more.receptionReports
      sum.keyframeRequests += more.keyframeRequests
      sum.framesReceived += more.framesReceived
      sum.packetsReceived += more.packetsReceived
      sum.bytesReceived += more.bytesReceived
      sum.packetsMissing += more.packetsMissing
      sum.packetsRecovered += more.packetsRecovered
    }
  }

  /// Its newest id in the room; nil before it has joined.
  package private(set) var id: ParticipantID?
  /// Seconds from the first attempt to connect to the server until the join.
  package private(set) var joinTime: Double?
  /// Seconds from the start of each call to its connection.
  package private(set) var connectTimes: [Double] = []
  /// What its data channels carried, one entry for each user.
  package private(set) var data: [DataReport] = []
  /// Its errors, a sentence each.
  package private(set) var failures = SentenceCounts()
  /// What a viewer received; nil for a publisher.
  package private(set) var reception: ReceptionLog?
  /// Those to whom it was ever connected.
  package private(set) var peers: Set<ParticipantID> = []

  /// What others, or the server, refused without ending anything, a sentence each.
  package private(set) var refusals: [String] = []
  private static let maximumRefusals = 8
  private var hasCalled = false
  private var joinedAt: ContinuousClock.Instant?
  private var began: ContinuousClock.Instant?
  private var callsBegun: [ParticipantID: ContinuousClock.Instant] = [:]
  private var connected: Set<ParticipantID> = []
  private var running: [ParticipantID: PeerStatistics] = [:]
  private var over = Totals()

  package init() {}

  /// Whether it has started.
  package var hasStarted: Bool { began != nil || !failures.isEmpty }

  /// Whether it has joined the room.
  package var hasJoined: Bool { joinedAt != nil }

  /// Whether it has ever been connected to someone.
  package var hasConnected: Bool { !connectTimes.isEmpty }

  /// Seconds from the join to the first frame; nil if none arrived.
  package var firstFrameTime: Double? {
    guard let joinedAt, let first = reception?.firstFrame else { return nil }
    return max(0, (first - joinedAt) / .seconds(1))
  }

  /// Why it failed, was never connected, or carried no media because others refused it, as a sentence; nil if none of these is so.
  package var failure: String? {
    if let first = failures.first { return first }
    if hasConnected { return totals.packetsSent + totals.packetsReceived == 0 ? refusals.first : nil }
    if !hasStarted { return nil }
    if let refusal = refusals.first { return refusal }
    if !hasJoined { return "It had not joined the room when the load ended." }
    if !callsBegun.isEmpty { return "No connection was established before the load ended." }
    return hasCalled ? "Nobody stayed in the room until a connection was established." : "Nobody else was in the room."
  }

  /// The refusals that did not end it: others are failures already.
  package var partialRefusals: [String] { refusals.filter { failures.counts[$0] == nil } }

  /// The number of present connections.
  package var connections: Int { connected.count }

  /// The totals of all connections, including closed ones.
  package var totals: Totals {
    running.values.reduce(into: over) { $0 += Totals($1) }
  }

  /// The latest round-trip times of its connections, in seconds.
  package var roundTripTimes: [Double] { running.values.compactMap(\.roundTripTime) }

  // MARK: Events

  package mutating func starts(now: ContinuousClock.Instant) { began = now }

  package mutating func joined(as id: ParticipantID, now: ContinuousClock.Instant) {
    self.id = id
    joinedAt = joinedAt ?? now
    if let began, joinTime == nil { joinTime = (now - began) / .seconds(1) }
  }

  /// Registers the start of a call: with our offer if we joined later, otherwise with theirs.
  package mutating func calls(_ participant: ParticipantID, now: ContinuousClock.Instant) {
    hasCalled = true
    if callsBegun[participant] == nil { callsBegun[participant] = now }
  }

  package mutating func connected(_ participant: ParticipantID, now: ContinuousClock.Instant) {
    // A connection that resumes after silence is the same one.
    guard connected.insert(participant).inserted, let begun = callsBegun[participant] else { return }
    connectTimes.append((now - begun) / .seconds(1))
    peers.insert(participant)
  }

  /// Stores the newest counters of the connections. Those of one that has ended meanwhile are ignored: they are in the totals already.
  package mutating func counted(
    _ statistics: [PeerStatistics], data: [DataReport] = [], reception: ReceptionLog? = nil
  ) {
    self.data = data
    self.reception = reception ?? self.reception
    for connection in statistics where callsBegun[connection.participant] != nil {
      running[connection.participant] = connection
    }
  }

  package mutating func ended(_ participant: ParticipantID, _ ending: CloseReason) {
    if let last = running.removeValue(forKey: participant) { over += Totals(last) }
    callsBegun[participant] = nil
    connected.remove(participant)
    switch ending.cause {
    case .closedByUs, .closedByParticipant: break
    case .connectionLost, .failed: failures.add(ending.sentence)
    }
  }

  package mutating func failed(_ sentence: String) {
    failures.add(sentence)
  }

  /// Records that a participant or the server refused something; connections may go on without it.
  package mutating func refused(_ sentence: String) {
    if refusals.count < Self.maximumRefusals, !refusals.contains(sentence) { refusals.append(sentence) }
  }
}
