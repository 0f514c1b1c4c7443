public import CallCheck

extension CheckReport {
  /// The maximum number of annotations of a step that GitHub shows.
  public static let maximumAnnotations = 10

  /// The failures as workflow commands of GitHub Actions, one line each without its newline, which a step prints to its standard
  /// output: `::error title=…::…`, and one `::warning` if the check is inconclusive. Empty if all rules held.
  ///
  /// A check that ended before a peer was seen has one error, its reason: the rules only repeat that.
  ///
  /// At most ``maximumAnnotations`` lines. If there are more failures, the last line gives their number.
  public var annotations: [String] {
    let subject = subject == .call ? "Check of room \(ReportText.line(room, limit: 80))" : "Inspection of recordings"
    switch verdict {
    case .held: return []
    case .inconclusive: return [WorkflowCommand("warning", title: subject, message: summary).line]
    case .failed: break
    }
    var commands: [WorkflowCommand] = []
    if diagnosis != nil || failure != nil || !results.contains(where: \.outcome.isFailure) {
      commands.append(WorkflowCommand("error", title: subject, message: diagnosis ?? failure ?? summary))
    }
    for section in failure != nil && peers.isEmpty ? [] : sections {
      for result in section.results where result.outcome.isFailure {
        let who = section.id.map { "\(section.name(of: result)) (\($0))" } ?? section.name
        commands.append(
          WorkflowCommand("error", title: "\(result.rule), \(section.name)", message: "\(who): \(result.sentence)"))
      }
    }
    if commands.count > Self.maximumAnnotations {
      let rest = commands.count - (Self.maximumAnnotations - 1)
      commands =
        commands.prefix(Self.maximumAnnotations - 1) + [
          WorkflowCommand("error", title: subject, message: "\(rest) further failures: see the report.")
        ]
    }
    return commands.map(\.line)
  }
}

/// A command that a runner of GitHub Actions reads in the output of a step.
private struct WorkflowCommand {
  private let name: StaticString
  private let title: String
  private let message: String

  init(_ name: StaticString, title: String, message: String) {
    self.name = name
    self.title = title
    self.message = message
  }

  /// The line, without its newline.
  var line: String {
    let title = ReportText.line(title, limit: 200)
    let message = ReportText.line(message, limit: 1_000)
    return "::\(name) title=\(Self.escaped(title, isProperty: true))::\(Self.escaped(message, isProperty: false))"
  }

  /// Escapes what would end a value, as the toolkit of GitHub Actions does.
  private static func escaped(_ text: String, isProperty: Bool) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "%": result.append(contentsOf: "%25".unicodeScalars)
      case "\r": result.append(contentsOf: "%0D".unicodeScalars)
      case "\n": result.append(contentsOf: "%0A".unicodeScalars)
      case ":" where isProperty: result.append(contentsOf: "%3A".unicodeScalars)
      case "," where isProperty: result.append(contentsOf: "%2C".unicodeScalars)
      default: result.append(scalar)
      }
    }
    return String(result)
  }
}
