/// What was found for one rule, of one peer or of the room.
public struct RuleResult: Sendable, Hashable, Codable {
  /// The rule as it was given, for example `video.fps >= 24`.
  public var rule: String
  /// The measurement's full name, for example `video.freeze.longest`.
  public var measurement: String
  /// The peer's id; nil for a rule about the room.
  public var peer: String?
  public var outcome: Outcome
  /// What was measured, in the measurement's own unit (`unit`); nil when it was not.
  public var value: Double?
  /// What the rule requests, in the same unit.
  public var limit: Double
  /// `s`, `bit/s`, `fps`, `dB`, `px`, or nothing for a count, a share or a score.
  public var unit: String
  /// The figure as a person reads it, for example `2.03 s`; nil when it was not measured.
  public var figure: String?
  /// What was found, in one sentence or two that a person can act on.
  public var sentence: String

  public enum Outcome: String, Sendable, Hashable, Codable, CaseIterable {
    case held
    case failed
    /// It counts as failed, too.
    case notMeasured
    /// This machine could not keep up, so that nothing is known: the rule has neither held nor failed.
    case inconclusive
  }

  package init(
    rule: String, measurement: String, peer: String?, outcome: Outcome, value: Double?, limit: Double, unit: String,
    figure: String?, sentence: String
  ) {
    self.rule = rule
    self.measurement = measurement
    self.peer = peer
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
