import ArgumentParser
import CallCheck
import FoundationEssentials
import OptionValues

/// The options for the rules and the reports; the same for `check` and `inspect`.
struct RuleOptions: ParsableArguments {
  /// What the peers send.
  enum Content: String, ExpressibleByArgument, CaseIterable {
    case any, pattern, returned
  }

  @Option(
    help: ArgumentHelp(
      "A rule, like 'video.fps >= 24', or '2.video.fps >= 5' about the second stream of each peer; repeatable. Given rules replace the default rules, unless "
        + "one of them is “\(RuleList.defaultKeyword)”. (default: rules that the verdict lists)",
      valueName: "rule"))
  var expect: [String] = []

  @Option(
    help: ArgumentHelp("A file with a list of rules, in YAML.", valueName: "file"), completion: .file())
  var expectFile: String?

  @Option(
    help: ArgumentHelp(
      "What the peers send: anything, the test pattern, or our own media. It determines the default rules.",
      valueName: "any|pattern|returned"))
  var content = Content.any

  @Flag(help: "Peers send no audio.")
  var noAudio = false

  @Flag(help: "Peers send no video.")
  var noVideo = false

  @Option(
    help: ArgumentHelp("Write the report as JSON; - means standard output.", valueName: "file|-"),
    completion: .file())
  var json: String?

  @Option(
    help: ArgumentHelp("Write the verdict as JUnit XML; - means standard output.", valueName: "file|-"),
    completion: .file())
  var junit: String?

  @Option(
    help: ArgumentHelp("Write a self-contained HTML page; - means standard output.", valueName: "file|-"),
    completion: .file())
  var html: String?

  @Option(
    help: ArgumentHelp(
      "Add the verdict as Markdown to the end of this file, such as $GITHUB_STEP_SUMMARY.", valueName: "file"),
    completion: .file())
  var summaryMarkdown: String?

  @Option(
    help: ArgumentHelp("Compare with an earlier report written by --json.", valueName: "file"),
    completion: .file())
  var baseline: String?

  @Flag(help: "List the measurements that rules can use.")
  var measurements = false

  /// The given rules, or the default rules.
  func rules() throws -> RuleList {
    var rules = try given()
    if let expectFile {
      do {
        rules.add(try RulesFile.rules(of: try Self.text(of: expectFile, longest: RulesFile.maximumBytes)))
      } catch let error as RulesFile.ParseError {
        throw ValidationError("--expect-file \(expectFile): \(error)")
      }
    }
    return rules.isEmpty ? .defaults : rules
  }

  /// The rules of the command line alone.
  private func given() throws -> RuleList {
    var rules = RuleList()
    for text in expect {
      do {
        try rules.add(text)
      } catch {
        throw ValidationError("--expect '\(text)': \(error)")
      }
    }
    return rules
  }

  /// The report to compare with, or nil if none was given.
  func baselineReport() throws -> CheckReport? {
    guard let baseline else { return nil }
    do {
      return try CheckReport(parsing: Array(try Self.text(of: baseline, longest: Self.maximumReport).utf8))
    } catch let error as CheckReport.ReadingError {
      throw ValidationError("--baseline \(baseline): \(error)")
    }
  }

  /// - Parameter peers: The number of peers expected.
  func expectation(peers: Int) -> CheckExpectation {
    let pattern: CheckExpectation.Pattern =
      switch content {
      case .any: .none
      case .pattern: .played
      case .returned: .returned
      }
    return CheckExpectation(peers: peers, audio: !noAudio, video: !noVideo, pattern: pattern)
  }

  /// The outputs to write.
  var outputs: CheckOutputs {
    CheckOutputs(json: json, junit: junit, html: html, markdown: summaryMarkdown)
  }

  private static let maximumReport = 64 << 20

  private static func text(of path: String, longest: Int) throws -> String {
    do { return try BoundedFile.text(path, longest: longest) } catch { throw ValidationError(error.sentence) }
  }

  func validate() throws {
    if noAudio, noVideo { throw ValidationError("Without audio and video there is nothing to judge.") }
    if summaryMarkdown == CheckOutputs.standardOutput {
      throw ValidationError("--summary-markdown needs the name of a file; standard output (-) is not one.")
    }
    let files = [json, junit, html, summaryMarkdown].compactMap(\.self)
    if files.count(where: { $0 == CheckOutputs.standardOutput }) > 1 {
      throw ValidationError("Only one of --json, --junit and --html can go to standard output (-).")
    }
    let paths = Set(files.map { URL(fileURLWithPath: $0).standardizedFileURL.path })
    if paths.count < files.count { throw ValidationError("Two outputs cannot go into one file.") }
    // Reports errors before the call is joined. Rules in files are read once, when the command starts.
    _ = try given()
  }
}
