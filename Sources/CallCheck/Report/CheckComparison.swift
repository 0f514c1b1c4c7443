/// The comparison of a report with an earlier one of the same kind of call. Changes within the noise are left out.
public struct CheckComparison: Sendable, Hashable, Codable {
  /// The wall clock at the earlier check's start, if known.
  public var baselineStart: String?
  /// The comparison in one sentence.
  public var summary: String
  /// The measurements that got worse and those that got better, in the order of the catalogue.
  public var worse: [Change]
  public var better: [Change]
  /// Rules that held in the earlier report and fail now.
  public var newFailures: [Failure]
  /// Rules that did not hold in the earlier report and hold now.
  public var resolvedFailures: [Failure]
  /// What could not be compared, one sentence each.
  public var remarks: [String]

  private enum CodingKeys: String, CodingKey {
    case baselineStart, summary, worse, better, newFailures
    case resolvedFailures = "mended"
    case remarks
  }

  /// One measurement that changed.
  public struct Change: Sendable, Hashable, Codable {
    public var measurement: String
    /// The peer's id in the later report; nil for the room.
    public var peer: String?
    /// The number of the peer's stream; nil for the first one, and for what is not measured for each stream.
    public var stream: Int?
    /// The values in the measurement's own unit.
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
