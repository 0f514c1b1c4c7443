/// The result of one rule for one peer or for the room.
public struct RuleResult: Sendable, Hashable, Codable {
  /// The rule as given, for example `video.fps >= 24`.
  public var rule: String
  /// The measurement's full name, for example `video.freeze.longest`.
  public var measurement: String
  /// The peer's id; nil for a rule about the room.
  public var peer: String?
  /// The number of the peer's stream; nil for the first one, and for what is not measured for each stream.
  public var stream: Int?
  public var outcome: Outcome
  /// The value in the measurement's own unit (`unit`), or a text; nil if it was not measured.
  public var value: RuleValue?
  /// The limit of the rule, in the same unit, or a text.
  public var limit: RuleValue
  /// `s`, `bit/s`, `fps`, `dB`, `px`, or empty for a count, a share, a score or a text.
  public var unit: String
  /// The value as text for people, for example `2.03 s`; nil if it was not measured.
  public var figure: String?
  /// One or two sentences about the result that a person can act on.
  public var sentence: String

  public enum Outcome: String, Sendable, Hashable, Codable, CaseIterable {
    case held
    case failed
    /// The value was not measured, which counts as failed.
    case notMeasured
    /// This machine could not keep up, so the rule has neither held nor failed.
    case inconclusive
  }

  package init(
    rule: String, measurement: String, peer: String?, stream: Int? = nil, outcome: Outcome, value: RuleValue?,
    limit: RuleValue, unit: String,
    figure: String?, sentence: String
  ) {
    self.rule = rule
    self.measurement = measurement
    self.peer = peer
    self.stream = stream
    self.outcome = outcome
    self.value = value
    self.limit = limit
    self.unit = unit
    self.figure = figure
    self.sentence = sentence
  }

  /// Whether the rule held.
  public var holds: Bool { outcome == .held }
}
