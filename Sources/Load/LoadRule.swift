public import CallCheck

/// A condition that a load must meet, for example `publishers.connected >= 50`. It is written as a rule of a check.
public struct LoadRule: Sendable, CustomStringConvertible {
  private let measurement: LoadMeasurement
  private let comparison: Rule.Comparison
  /// The limit in the measurement's own unit.
  private let limit: Double
  /// The rule as written.
  public let text: String

  public var description: String { text }

  /// Parses a rule: a name, a comparison and a limit with its unit.
  public init(_ text: String) throws(ParseError) {
    do {
      let parts = try RuleParts(text)
      guard let measurement = LoadMeasurement.named(parts.name) else { throw ParseError.unknownName(parts.name) }
      self.measurement = measurement
      comparison = parts.comparison
      limit = try measurement.unit.limit(parts.limit, of: measurement.name)
      self.text = parts.text
    } catch let error as ParseError {
      throw error
    } catch let error as Rule.ParseError {
      throw .rule(error)
    } catch {
      throw .unknownName(text)
    }
  }

  /// Why a text is no rule of a load.
  public enum ParseError: Error, Sendable, Hashable, CustomStringConvertible {
    /// There is no such measurement of a load.
    case unknownName(String)
    case rule(Rule.ParseError)

    public var description: String {
      switch self {
      case .unknownName(let name):
        "There is no measurement \"\(ReportText.line(name, limit: 60))\" of a load; there are "
          + LoadRule.measurements.joined(separator: ", ") + "."
      case .rule(let error): error.description
      }
    }
  }

  /// The names of all measurements.
  public static var measurements: [String] { LoadMeasurement.catalogue.map(\.name) }

  /// Applies the rule to a report.
  func result(of report: LoadReport) -> RuleResult {
    var result = RuleResult(
      rule: text, measurement: measurement.name, peer: nil, outcome: .notMeasured, value: nil, limit: .number(limit),
      unit: measurement.unit.symbol, figure: nil,
      sentence: "\(measurement.title): could not be measured, because \(measurement.absence(report)).")
    guard let value = measurement.value(report), value.isFinite else { return result }
    let (figure, limit) = measurement.unit.texts(value, against: self.limit)
    result.value = .number(value)
    result.outcome = comparison.holds(value, self.limit) ? .held : .failed
    result.figure = figure
    result.sentence = "\(measurement.title): \(figure); the rule requires \(comparison.words) \(limit)."
    return result
  }
}

extension LoadReport {
  /// Applies rules and stores their ``results``, in the same order.
  ///
  /// - Returns: Whether all of them hold. One whose value was not measured does not.
  @discardableResult
  public mutating func judge(by rules: [LoadRule]) -> Bool {
    let results = rules.map { $0.result(of: self) }
    self.results = results
    return results.allSatisfy(\.holds)
  }
}
