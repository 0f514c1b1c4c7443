import CallCheck

/// A suite of JUnit XML: the results of the room or of one peer.
struct JUnitSuite {
  var name: String
  /// The class name; the part before the last dot is the package.
  var className: String
  var properties: [(name: String, value: String)] = []
  var cases: [Case] = []
  var output = ""

  /// One rule.
  struct Case {
    var name: String
    var problem: Problem?
    /// The reason why the rule was not judged; nil if it was.
    var skipped: String?
    var output: String?
  }

  /// The reason why a case did not pass.
  struct Problem {
    enum Kind {
      case failure
      case error
    }

    var kind: Kind
    var type: String
    var sentence: String
    var text: String
  }

  init(name: String, className: String) {
    self.name = name
    self.className = className
  }

  func write(into markup: inout Markup, time: String, timestamp: String?) {
    markup.write(trusted: "  ")
    markup.element(
      "testsuite",
      [
        "name": name, "tests": "\(cases.count)", "failures": "\(cases.count { $0.problem?.kind == .failure })",
        "errors": "\(cases.count { $0.problem?.kind == .error })", "skipped": "\(cases.count { $0.skipped != nil })",
        "time": time, "timestamp": timestamp,
      ]
    ) { markup in
      markup.write(trusted: "\n    ")
      markup.element("properties") { markup in
        for property in properties { markup.empty("property", ["name": property.name, "value": property.value]) }
      }
      for found in cases {
        markup.write(trusted: "\n    ")
        // All rules judge the same call, and the suite has its duration.
        markup.element("testcase", ["classname": className, "name": found.name, "time": "0.000"]) { markup in
          write(found, into: &markup)
        }
      }
      markup.write(trusted: "\n    ")
      markup.element("system-out", text: Self.body(output))
      markup.write(trusted: "\n  ")
    }
    markup.newLine()
  }

  private func write(_ found: Case, into markup: inout Markup) {
    if let problem = found.problem {
      let message = ReportText.line(problem.sentence, limit: 1000)
      let text = Self.body("\(problem.sentence)\n\(problem.text)")
      markup.element(
        problem.kind == .failure ? "failure" : "error", ["message": message, "type": problem.type], text: text)
    }
    if let skipped = found.skipped {
      markup.empty("skipped", ["message": ReportText.line(skipped, limit: 1000)])
    }
    if let output = found.output { markup.element("system-out", text: Self.body(output)) }
  }

  /// Returns text with sanitized lines of a readable length.
  private static func body(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { ReportText.line(String($0), limit: 2000) }.joined(separator: "\n")
  }

  /// Returns a table with one name and value per line.
  static func table(_ rows: [(name: String, value: String)]) -> String {
    let width = rows.map(\.name.count).max() ?? 0
    return rows.map { row in
      "  " + row.name + String(repeating: " ", count: width - row.name.count) + "  "
        + ReportText.line(row.value, limit: 1000)
    }.joined(separator: "\n")
  }
}
