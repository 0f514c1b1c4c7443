/// One report against an earlier one of the same kind of call. Changes that are at most noise are skipped.
public struct CheckComparison: Sendable, Hashable, Codable {
  /// The wall clock at the earlier check's start, where it is known.
  public var baselineStart: String?
  /// In one sentence.
  public var summary: String
  /// What got worse, and what got better, in the order of the catalogue.
  public var worse: [Change]
  public var better: [Change]
  /// Rules that held then and do not now.
  public var newFailures: [Failure]
  /// Rules that did not hold then and do now.
  public var mended: [Failure]
  /// What could not be compared, a sentence each.
  public var remarks: [String]

  /// One measurement that changed.
  public struct Change: Sendable, Hashable, Codable {
    public var measurement: String
    /// The peer's id in the later report; nil for the room.
    public var peer: String?
    /// In the measurement's own unit.
    public var before: Double
    public var now: Double
    public var unit: String
    /// For example "Longest freeze: 0.12 s before, 2.03 s now."
    public var sentence: String
  }

  /// A rule whose outcome changed.
  public struct Failure: Sendable, Hashable, Codable {
    public var rule: String
    /// The peer's id in the later report; nil for the room.
    public var peer: String?
  }
}
