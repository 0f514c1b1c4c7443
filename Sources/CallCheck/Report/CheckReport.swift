/// What a call, or a recording of one, was found to be: everything that a check knows at its end.
///
/// Times are seconds with four decimals, counted from the check's start; shares are 0 to 1; bitrates are bits a second. What was
/// not measured is nil, and missing in JSON.
public struct CheckReport: Sendable, Hashable, Codable {
  /// The version that this program writes. It goes up when the meaning of a field changes, not when one is added.
  public static let currentVersion = 1

  public var version = CheckReport.currentVersion
  /// The program that wrote it.
  public var writer = "chatbot"
  /// The wall clock at the check's start, ISO 8601 in UTC with milliseconds; anyone who knows it fills it in.
  public var start: String?
  public var subject: CheckSubject
  public var room: String
  /// What the check was told to expect.
  public var expected: CheckExpectation
  /// How long was judged: from the check's start to its end.
  public var duration: Double
  /// When as many peers as expected had begun to send media; nil when that never happened.
  public var mediaFrom: Double?
  /// `held` when every rule held; `failed` when one failed or could not be measured; else `inconclusive`: this machine could not
  /// keep up.
  public var verdict: Verdict
  /// The verdict as a sentence, for example "1 of 9 rules failed for 1 of 2 peers."
  public var summary: String
  /// For a call that never was established: which step was reached, as a sentence; nil when media flowed.
  public var diagnosis: String?
  /// Why the check itself did not come to its end, as a sentence; nil when it did. What was not seen to the end has failed.
  public var failure: String?
  /// Whether all rules are the program's own because no other was given.
  public var rulesAreDefault: Bool
  /// The rules in the order in which they were given, then the program's own.
  public var rules: [RuleNote]
  /// What was found for each rule: of the room once, of a peer once for each.
  public var results: [RuleResult]
  /// What concerns nobody alone.
  public var roomReport: RoomReport
  /// Everyone who was seen, in the order in which they came.
  public var peers: [PeerReport]
  /// What was done to packets on purpose, and when; anyone who requested it fills it in.
  public var impairment: [ImpairmentNote] = []
  /// What the check itself did on purpose that it should not; nil for nothing. Anyone who did it fills it in.
  public var act: FaultNote?
  /// Against an earlier report; nil when there was none.
  public var comparison: CheckComparison?

  enum CodingKeys: String, CodingKey {
    case version, writer, start, subject, room, expected, duration, mediaFrom, verdict, summary, diagnosis
    case failure, rulesAreDefault, rules, results
    case roomReport = "roomMeasured"
    case peers, impairment, act, comparison
  }

  /// Whether everything was as it is to be.
  public enum Verdict: String, Sendable, Hashable, Codable {
    case held
    case failed
    case inconclusive
  }

  /// A rule as it was given, and why a rule of the program's own is there.
  public struct RuleNote: Sendable, Hashable, Codable {
    /// For example `video.fps >= 24`.
    public var rule: String
    /// Why the program has it among its own; nil for a rule that was given.
    public var reason: String?
  }

  /// What was done to packets on purpose for a while.
  public struct ImpairmentNote: Sendable, Hashable, Codable {
    public var start: Double
    /// Nil where it lasted to the end.
    public var end: Double?
    /// `send` or `receive`; nil for both.
    public var direction: String?
    /// As it was given, for example `loss=5%,delay=80ms`.
    public var text: String

    public init(start: Double, end: Double? = nil, direction: String? = nil, text: String) {
      self.start = start
      self.end = end
      self.direction = direction
      self.text = text
    }
  }

  /// A way to misbehave.
  public struct FaultNote: Sendable, Hashable, Codable {
    /// For example `ssrc-change`.
    public var name: String
    /// How often it was done, to all peers together; 0 when there was no occasion, nil where that is not counted.
    public var performed: UInt64?

    public init(name: String, performed: UInt64?) {
      self.name = name
      self.performed = performed
    }

    /// For people: "ssrc-change, done once".
    public var text: String {
      switch performed {
      case nil: name
      case 0: "\(name), for which there was no occasion"
      case 1: "\(name), done once"
      case let times?: "\(name), done \(times) times"
      }
    }
  }

  /// What a verdict does not say: what the check did not manage to look at, and when it did not hear who came. A sentence each.
  public var shortcomings: [String] {
    var sentences = [signallingSentence].compactMap(\.self)
    let leftOut = peers.compactMap(\.leftOut)
    if !leftOut.isEmpty {
      let videoFrames = leftOut.reduce(0) { $0 + $1.videoFrames }
      sentences.append(
        "This machine could not decode all that came: \(videoFrames) \(videoFrames == 1 ? "frame" : "frames")"
          + (leftOut.count == peers.count ? "" : " of \(leftOut.count) of \(peers.count) peers")
          + " \(videoFrames == 1 ? "was" : "were") skipped.")
    }
    if let others = roomReport.peersNotJudged, others > 0 {
      sentences.append(
        "\(others) more \(others == 1 ? "peer was" : "peers were") there and not judged, because \(peers.count) are the most "
          + "that are.")
    }
    let late = peers.compactMap(\.cameLate)
    if let longest = late.max() {
      sentences.append(
        late.count == 1
          ? "1 peer came only \(MeasurementUnit.time.text(longest)) before the end, too late to be judged."
          : "\(late.count) peers came only in the last \(MeasurementUnit.time.text(longest)), too late to be judged.")
    }
    return sentences
  }

  /// When the server was not there; nil when it always was.
  private var signallingSentence: String? {
    guard let losses = roomReport.signallingLost, let first = losses.first else { return nil }
    let from = MeasurementUnit.time.text(first.start)
    let reason = ReportText.line(first.reason, limit: 200).asClause
    let what: String
    if losses.count > 1 {
      let total = losses.reduce(0) { $0 + $1.duration }
      what =
        "was lost \(losses.count) times, first at \(from) (\(reason)), for \(MeasurementUnit.time.text(total)) in all"
    } else if first.regained {
      what = "was lost at \(from) for \(MeasurementUnit.time.text(first.duration)) (\(reason))"
    } else {
      what = "was lost at \(from) and did not come back (\(reason))"
    }
    return "The room's server \(what). Calls continue without it, but nobody new can come."
  }

  /// The peers that did not come too late to be judged.
  package var judgedPeers: [PeerReport] { peers.filter { $0.cameLate == nil } }

  /// The rules that are the program's own.
  package var ownRules: [RuleNote] { rulesAreDefault ? rules : rules.filter { $0.reason != nil } }

  /// Which rules nobody gave, as a sentence; nil when all were given.
  package var ownRulesSentence: String? {
    if ownRules.isEmpty { return nil }
    if rulesAreDefault { return "No rule was given: these are the program's own." }
    let verb = ownRules.count == 1 ? "is" : "are"
    return "\(ownRules.count) of these \(rules.count) rules \(verb) the program's own."
  }

  /// What was measured of the room as a whole.
  public struct RoomReport: Sendable, Hashable, Codable {
    /// When the server had let us in.
    public var joined: Double?
    /// Everyone who was seen.
    public var peersSeen: Int
    /// The most peers from which media came at the same time.
    public var peersAtOnce: Int
    /// Those who were not judged, because there were more than are judged; nil for nobody.
    public var peersNotJudged: Int?
    /// When the room's server was not there after we had been let in; nil where there was none, as of a recording.
    public var signallingLost: [SignallingLoss]?
  }
}
