import Foundation

/// The result of one scenario of a test run; one line of JSON in the run's journal.
public struct ScenarioRecord: Sendable, Hashable, Codable {
  public enum Outcome: String, Sendable, Codable {
    case passed
    case failed
    case notJudged
  }

  public struct Attempt: Sendable, Hashable, Codable {
    /// In seconds.
    public var duration: Double
    public var failures: [String]
    /// Whether its failures were excused only because other scenarios ran at the same time.
    public var isExcusedByOthers: Bool
    public var stalls: StallFigures?

    public init(duration: Double, failures: [String], isExcusedByOthers: Bool = false, stalls: StallFigures?) {
      self.duration = duration
      self.failures = failures
      self.isExcusedByOthers = isExcusedByOthers
      self.stalls = stalls
    }
  }

  public var name: String
  public var outcome: Outcome
  public var attempts: [Attempt]

  public init(name: String, outcome: Outcome, attempts: [Attempt]) {
    self.name = name
    self.outcome = outcome
    self.attempts = attempts
  }

  /// The record as a line of JSON.
  public var line: String {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys]
      return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
  }

  /// Parses the records of a journal and skips invalid lines.
  public static func records(in journal: String) -> [ScenarioRecord] {
    let decoder = JSONDecoder()
    return journal.split(separator: "\n").compactMap { try? decoder.decode(ScenarioRecord.self, from: Data($0.utf8)) }
  }
}
