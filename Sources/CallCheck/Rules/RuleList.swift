/// The rules of a check: the given ones, and whether the default rules apply as well.
public struct RuleList: Sendable {
  /// The given rules, in order.
  public var given: [Rule]
  /// Whether the default rules apply as well. A given rule replaces the default rules about the same measurement.
  public var includesDefaults: Bool

  /// The keyword for the default rules, allowed wherever a rule is.
  package static let defaultKeyword = "default"

  /// Only the default rules: what applies if no rule is given.
  public static let defaults = RuleList([], includesDefaults: true)

  public init(_ given: [Rule] = [], includesDefaults: Bool = false) {
    self.given = given
    self.includesDefaults = includesDefaults
  }

  /// Whether the list contains no rule and no default rules.
  package var isEmpty: Bool { given.isEmpty && !includesDefaults }

  /// Parses and adds a rule or the keyword `default`.
  public mutating func add(_ text: String) throws(Rule.ParseError) {
    if text.trimmed == Self.defaultKeyword {
      includesDefaults = true
    } else {
      given.append(try Rule(text))
    }
  }

  package mutating func add(_ other: RuleList) {
    given += other.given
    includesDefaults = includesDefaults || other.includesDefaults
  }

  /// Whether a rule about this measurement was given; of what is measured for each stream, about that of the first one.
  package func isGiven(_ measurement: String) -> Bool {
    given.contains { $0.measurement.name == measurement && $0.stream == 1 }
  }

  /// Returns all rules that apply with these expectations: the given rules, then the default rules with their reasons.
  func all(for expected: CheckExpectation, subject: CheckSubject) -> [(rule: Rule, reason: String?)] {
    let defaults = includesDefaults ? DefaultRules.rules(for: expected, subject: subject) : []
    return given.map { ($0, nil) }
      + defaults.filter { !isGiven($0.rule.measurement.name) }.map { ($0.rule, Optional($0.reason)) }
  }
}

/// The rules that apply if none are given: what a person would call a working call, with some tolerance.
package enum DefaultRules {
  /// Returns the rules for a call or a recording with these expectations, each with its reason.
  package static func rules(for expected: CheckExpectation, subject: CheckSubject) -> [(rule: Rule, reason: String)] {
    var texts: [(String, String)] = []
    let isCall = subject == .call
    if isCall {
      texts.append(("peers >= \(max(1, expected.peers))", "All expected peers joined."))
      texts.append(("absent <= 1s", "No peer left before the end."))
    }
    if expected.video {
      if isCall {
        texts.append(
          ("video.firstFrame <= 5s", "Users assume that the call has failed if a tile stays empty for longer."))
      }
      texts += [
        ("video.fps >= 15", "Below that, movement is visibly jerky."),
        ("video.freeze.longest <= 1s", "Users tolerate a shorter freeze."),
        ("video.frozen.longest <= 3s", "No real scene is still for longer; a stuck camera is."),
        ("video.black.longest <= 1s", "A working camera is not black for longer, even when it starts."),
      ]
    }
    if expected.audio {
      if isCall {
        texts.append(
          ("audio.firstSound <= 5s", "Users assume that the call has failed if they hear nothing for longer."))
      }
      texts += [
        ("audio.silence.longest <= 2s", "Pauses in speech are shorter, and a real room is never silent."),
        ("audio.clipped.ratio <= 10%", "Audio that is clipped more often sounds distorted throughout."),
        ("audio.gap.longest <= 500ms", "A longer gap can hide a whole word."),
      ]
    }
    if isCall { texts.append(("loss <= 5%", "If a network path loses more, examine it first.")) }
    if expected.pattern != .none {
      if expected.audio && expected.video {
        texts.append(
          ("av.skew.p95 <= 120ms", "Above that, viewers notice that lips and voice are out of sync (ITU-R BT.1359)."))
      }
      if isCall {
        texts.append(("latency.p95 <= 400ms", "Above that, people talk over each other (ITU-T G.114)."))
      }
      if expected.video { texts.append(("pattern.ssim >= 0.7", "Below that, frames look blurred.")) }
    }
    if isCall && expected.pattern == .returned && expected.video {
      texts.append(("returned.ratio >= 0.9", "A peer that returns our video must return nearly every frame."))
    }
    return texts.compactMap { text, reason in (try? Rule(text)).map { ($0, reason) } }
  }
}
