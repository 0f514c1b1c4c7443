/// The rules of a check: those that were given, and whether the program's own hold besides them.
public struct RuleList: Sendable {
  /// What was given, in order.
  public var given: [Rule]
  /// Whether the program's own rules hold, too. A given rule takes the place of each of them that is about the same measurement.
  public var includesOwn: Bool

  /// What stands for the program's own rules wherever a rule can stand.
  public static let ownName = "default"

  /// The program's own rules and no other: what holds where none is given.
  public static let own = RuleList([], includesOwn: true)

  public init(_ given: [Rule] = [], includesOwn: Bool = false) {
    self.given = given
    self.includesOwn = includesOwn
  }

  /// Whether there is nothing in it.
  public var isEmpty: Bool { given.isEmpty && !includesOwn }

  /// Reads one more: a rule, or `default`.
  public mutating func add(_ text: String) throws(Rule.ParseError) {
    if text.trimmed == Self.ownName {
      includesOwn = true
    } else {
      given.append(try Rule(text))
    }
  }

  public mutating func add(_ other: RuleList) {
    given += other.given
    includesOwn = includesOwn || other.includesOwn
  }

  /// Whether a rule was given about a measurement.
  public func isGiven(_ measurement: String) -> Bool { given.contains { $0.measurement.name == measurement } }

  /// All rules that hold where that is expected: the given ones, then the program's own with their reasons.
  func all(for expected: CheckExpectation, subject: CheckSubject) -> [(rule: Rule, reason: String?)] {
    let own = includesOwn ? DefaultRules.rules(for: expected, subject: subject) : []
    return given.map { ($0, nil) }
      + own.filter { !isGiven($0.rule.measurement.name) }.map { ($0.rule, Optional($0.reason)) }
  }
}
