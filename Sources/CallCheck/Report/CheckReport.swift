/// The results of a check of a call or of a recording.
///
/// Times are seconds with four decimals since the check's start; shares are 0 to 1; bitrates are bits per second.
/// Values that were not measured are nil, and missing in JSON.
public struct CheckReport: Sendable, Hashable, Codable {
  /// The version that this program writes. It increases when the meaning of a field changes, not when a field is added.
  package static let currentVersion = 2

  public var version = CheckReport.currentVersion
  /// The program that wrote the report.
  public var writer = "chatbot"
  /// The wall clock at the check's start, ISO 8601 in UTC with milliseconds. The caller sets it.
  public var start: String?
  public var subject: CheckSubject
  public var room: String
  /// What the check expected.
  public var expected: CheckExpectation
  /// The duration of the check, from its start to its end.
  public var duration: Double
  /// The time at which as many peers as expected had begun to send media; nil if that never happened.
  public var mediaFrom: Double?
  /// `held` if every rule held; `failed` if one failed or could not be measured; otherwise `inconclusive`: this machine
  /// could not keep up.
  public var verdict: Verdict
  /// The verdict as a sentence, for example "1 of 9 rules failed for 1 of 2 peers."
  public var summary: String
  /// For a call that was never established: which step it reached, as a sentence; nil if media flowed.
  public var diagnosis: String?
  /// Why the check itself did not finish, as a sentence; nil if it did. A check that did not finish has failed.
  public var failure: String?
  /// Whether all rules are default rules because none was given.
  public var rulesAreDefault: Bool
  /// The given rules in order, then the default rules.
  public var rules: [RuleNote]
  /// The results of each rule: one for the room, or one for each peer.
  public var results: [RuleResult]
  /// The measurements of the room as a whole.
  public var roomReport: RoomReport
  /// All peers that were seen, in the order in which they joined.
  public var peers: [PeerReport]
  /// The network impairments that the check applied, and when. The caller sets them.
  public var impairment: [ImpairmentNote] = []
  /// The fault that the check injected; nil for none. The caller sets it.
  public var fault: FaultNote?
  /// The comparison with an earlier report; nil if there was none.
  public var comparison: CheckComparison?

  enum CodingKeys: String, CodingKey {
    case version, writer, start, subject, room, expected, duration, mediaFrom, verdict, summary, diagnosis
    case failure, rulesAreDefault, rules, results
    case roomReport = "roomMeasured"
    case peers, impairment
    case fault = "act"
    case comparison
  }

  /// The overall outcome of a check.
  public enum Verdict: String, Sendable, Hashable, Codable {
    case held
    case failed
    case inconclusive
  }

  /// A rule as given, and the reason for a default rule.
  public struct RuleNote: Sendable, Hashable, Codable {
    /// For example `video.fps >= 24`.
    public var rule: String
    /// Why this is a default rule; nil for a given rule.
    public var reason: String?
  }

  /// A network impairment during an interval.
  public struct ImpairmentNote: Sendable, Hashable, Codable {
    public var start: Double
    /// Nil if it lasted to the end.
    public var end: Double?
    /// `send` or `receive`; nil for both.
    public var direction: String?
    /// The settings as given, for example `loss=5%,delay=80ms`.
    public var text: String

    public init(start: Double, end: Double? = nil, direction: String? = nil, text: String) {
      self.start = start
      self.end = end
      self.direction = direction
      self.text = text
    }
  }

  /// An injected fault.
  public struct FaultNote: Sendable, Hashable, Codable {
    /// For example `ssrc-change`.
    public var name: String
    /// How often the fault was injected, for all peers together; 0 if there was no opportunity, nil if it is not
    /// counted.
    public var injectionCount: UInt64?

    private enum CodingKeys: String, CodingKey {
      case name
      case injectionCount = "performed"
    }

    public init(name: String, injectionCount: UInt64?) {
      self.name = name
      self.injectionCount = injectionCount
    }

    /// The fault for people: "ssrc-change, injected once".
    package var text: String {
      switch injectionCount {
      case nil: name
      case 0: "\(name), not injected because no opportunity arose"
      case 1: "\(name), injected once"
      case let times?: "\(name), injected \(times) times"
      }
    }
  }

  /// Limits of the check that the verdict does not state, one sentence each: what was not decoded or judged, and when
  /// the room server was missing.
  public var limitations: [String] {
    var sentences = [signallingSentence].compactMap(\.self)
    let skippedFrames = peers.map(\.skippedFramesOfAllStreams).filter { $0 > 0 }
    if !skippedFrames.isEmpty {
      let videoFrames = skippedFrames.reduce(0, +)
      sentences.append(
        "This machine could not decode everything that arrived: \(videoFrames) \(videoFrames == 1 ? "frame" : "frames")"
          + (skippedFrames.count == peers.count ? "" : " of \(skippedFrames.count) of \(peers.count) peers")
          + " \(videoFrames == 1 ? "was" : "were") skipped.")
    }
    for peer in peers {
      let reports = [peer.unverified] + (peer.streams ?? []).map(\.unverified)
      guard let first = reports.compactMap({ $0 }).first else { continue }
      sentences.append("Of \(ReportText.line(peer.id, limit: 48)), \(first.clause).")
    }
    if let others = roomReport.peersNotJudged, others > 0 {
      sentences.append(
        "\(others) more \(others == 1 ? "peer was" : "peers were") present but not judged, because at most \(peers.count) "
          + "peers are judged.")
    }
    let streams = peers.reduce(0) { $0 + ($1.streamsNotJudged ?? 0) }
    if streams > 0 {
      sentences.append(
        "\(streams) further \(streams == 1 ? "stream was" : "streams were") not judged, because at most "
          + "\(StreamReport.maximumCount) streams of a peer are judged.")
    }
    let late = peers.compactMap(\.timeLeftAfterLateJoin)
    if let longest = late.max() {
      sentences.append(
        late.count == 1
          ? "1 peer joined only \(MeasurementUnit.time.text(longest)) before the end, too late to be judged."
          : "\(late.count) peers joined only in the last \(MeasurementUnit.time.text(longest)), too late to be judged.")
    }
    let listeners = peers.filter(expected.leavesOut).map { ReportText.line($0.id, limit: 48) }
    if !listeners.isEmpty {
      let names = listeners.prefix(3).joined(separator: ", ") + (listeners.count > 3 ? " …" : "")
      sentences.append(
        listeners.count == 1
          ? "1 peer only receives, so it was not judged: \(names)."
          : "\(listeners.count) peers only receive, so they were not judged: \(names).")
    }
    // If nobody was judged, the diagnosis names them.
    let isInDiagnosis = diagnosis != nil && failure == nil && judgedPeers.isEmpty
    if let ignored = roomReport.peersIgnored, ignored > 0, !isInDiagnosis {
      let named = roomReport.ignoredPeers ?? []
      let names = named.prefix(3).map { ReportText.line($0, limit: 48) }.joined(separator: ", ")
      sentences.append(
        "\(ignored) \(ignored == 1 ? "peer was" : "peers were") present but not judged, as was asked"
          + (names.isEmpty ? "." : ": \(names)\(ignored > 3 ? " …." : ".")"))
    }
    return sentences
  }

  /// A sentence about the times without the room server; nil if there were none.
  private var signallingSentence: String? {
    guard let losses = roomReport.signallingLost, let first = losses.first else { return nil }
    let from = MeasurementUnit.time.text(first.start)
    let reason = ReportText.line(first.reason, limit: 200).asClause
    let what: String
    if losses.count > 1 {
      let total = losses.reduce(0) { $0 + $1.duration }
      what =
        "was lost \(losses.count) times, first at \(from) (\(reason)), for \(MeasurementUnit.time.text(total)) in all"
    } else if first.restored {
      what = "was lost at \(from) for \(MeasurementUnit.time.text(first.duration)) (\(reason))"
    } else {
      what = "was lost at \(from) and not restored (\(reason))"
    }
    return "The connection to the room server \(what). Calls continue without it, but no new peer can join."
  }

  /// The peers that are judged: those that joined early enough, without listeners.
  package var judgedPeers: [PeerReport] {
    peers.filter { $0.timeLeftAfterLateJoin == nil && !expected.leavesOut($0) }
  }

  /// The default rules among the rules.
  package var defaultRules: [RuleNote] { rulesAreDefault ? rules : rules.filter { $0.reason != nil } }

  /// A sentence that says which rules are default rules; nil if all were given.
  package var defaultRulesSentence: String? {
    if defaultRules.isEmpty { return nil }
    if rulesAreDefault { return "All of these rules are default rules." }
    let verb = defaultRules.count == 1 ? "is a default rule" : "are default rules"
    return "\(defaultRules.count) of these \(rules.count) rules \(verb)."
  }

  /// The measurements of the room as a whole.
  public struct RoomReport: Sendable, Hashable, Codable {
    /// When the server admitted us.
    public var joined: Double?
    /// The number of peers that were seen.
    public var peersSeen: Int
    /// The highest number of peers that sent media at the same time.
    public var peersAtOnce: Int
    /// The number of peers beyond the limit, which were not judged; nil for none.
    public var peersNotJudged: Int?
    /// The number of peers that only received: their descriptions announce no media, and none came; nil for none.
    public var listeners: Int?
    /// The number of peers that the check was told to ignore; nil for none.
    public var peersIgnored: Int?
    /// The ids of the first 100 of them.
    public var ignoredPeers: [String]?
    /// The times without the room server after it had admitted us; nil if there was no server, as for a recording.
    public var signallingLost: [SignallingLoss]?
  }
}

/// What the peers of a call are expected to send. The default rules follow from it.
public struct CheckExpectation: Sendable, Hashable, Codable {
  /// The minimum number of peers.
  public var peers: Int
  /// Whether each peer sends audio.
  public var audio: Bool
  /// Whether each peer sends video.
  public var video: Bool
  /// Whether peers send the test pattern.
  public var pattern: Pattern

  public init(peers: Int = 1, audio: Bool = true, video: Bool = true, pattern: Pattern = .none) {
    self.peers = peers
    self.audio = audio
    self.video = video
    self.pattern = pattern
  }

  /// Whether a peer is a listener of whom no media is expected. Where none is expected of anybody, all are judged.
  func leavesOut(_ peer: PeerReport) -> Bool { (audio || video) && peer.onlyReceives == true }

  /// What is known about the content.
  public enum Pattern: String, Sendable, Hashable, Codable, CaseIterable {
    /// Nothing; a pattern that arrives is read nevertheless.
    case none
    /// The peers play the pattern.
    case played
    /// The peers return what we send, and that is the pattern.
    case returned
  }
}

/// The subject of a check.
public enum CheckSubject: String, Sendable, Hashable, Codable {
  /// A call, while it lasts.
  case call
  /// A finished recording: there are no connection steps, and arrival times are the file's own timestamps.
  case recording
}
