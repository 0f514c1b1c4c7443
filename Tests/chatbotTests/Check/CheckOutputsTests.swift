import ArgumentParser
import CallCheck
import CallReport
import Console
import Foundation
import Testing

@testable import chatbot

@Suite("the outputs of a verdict")
struct CheckOutputsTests {
  /// The report of a call that no peer joined.
  private var report: CheckReport {
    let start = ContinuousClock.now
    let judge = CallJudge(.init(start: start, room: "100"))
    judge.joined(at: start)
    return judge.report(at: start + .seconds(1))
  }

  private func outputs(_ arguments: String...) throws -> CheckOutputs { try RuleOptions.parse(arguments).outputs }

  @Test(
    "a report on standard output is the only output there, and the table goes to standard error",
    arguments: ["--json", "--junit", "--html"])
  func standardOutput(_ option: String) throws {
    let screen = try Screen()
    let outputs = try outputs(option, "-")
    let (console, report) = (screen.console(), report)
    try outputs.prepare()
    console.verdict(report, outputs: outputs)
    try outputs.write(report, on: console)
    let texts = [
      "--json": try report.json, "--junit": report.junit, "--html": HTMLReport(report, recordings: [:]).text,
    ]
    let isAlone = screen.output == texts[option]
    #expect(isAlone)
    #expect(screen.errors.contains("no peer was seen"))
    #expect(!FileManager.default.fileExists(atPath: "-"))
  }

  @Test(
    "with --quiet the table is printed only if a rule failed and standard output has no report"
  )
  func quiet() throws {
    let aside = try Screen()
    aside.console(isQuiet: true).verdict(report, outputs: try outputs("--json", "-"))
    #expect(aside.output == "" && aside.errors == "")
    let held = try Screen()
    var good = report
    good.verdict = .held
    held.console(isQuiet: true).verdict(good, outputs: try outputs())
    #expect(held.output == "" && held.errors == "", "no rule failed")
    held.console().verdict(good, outputs: try outputs())
    #expect(held.output != "")
    let usual = try Screen()
    usual.console(isQuiet: true).verdict(report, outputs: try outputs("--json", "report.json"))
    #expect(usual.output.contains("no peer was seen") && usual.errors == "")
  }

  @Test("an output that cannot be written is refused before the call")
  func refused() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("outputs-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    for option in ["--json", "--summary-markdown"] {
      #expect(throws: Never.self) { try outputs(option, folder.path + "/new").prepare() }
      #expect(throws: Never.self) { try outputs(option, "/dev/null").prepare() }
      for (path, reason) in [(folder.path, "is a directory"), (folder.path + "/no/file", "no such file or directory")] {
        let failure = #expect(throws: CallFailure.self) { try outputs(option, path).prepare() }
        #expect(failure?.code == .disk)
        #expect(failure?.sentence.lowercased() == "\(path) cannot be written: \(reason).".lowercased())
      }
      let failure = #expect(throws: CallFailure.self) { try outputs(option, "").prepare() }
      #expect(failure?.code == .usage)
    }
  }

  @Test("two reports on standard output are refused with a sentence")
  func two() {
    let sentence = "Only one of --json, --junit and --html can go to standard output (-)."
    #expect(rejection(of: CheckOptions.self, "--json", "-", "--junit", "-") == sentence)
    #expect(rejection(of: InspectCommand.self, "a.webm", "--html", "-", "--junit", "-") == sentence)
    #expect(throws: Never.self) { try CheckOptions.parse(["--json", "-", "--html", "a.html"]) }
  }

  @Test("an output that cannot be written is reported and does not prevent the others")
  func unwritable() throws {
    let full = try Screen(output: "/dev/full")
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).xml")
    defer { try? FileManager.default.removeItem(at: file) }
    let outputs = try outputs("--json", "-", "--junit", file.path)
    let report = report
    let failure = #expect(throws: CallFailure.self) { try outputs.write(report, on: full.console()) }
    #expect(failure?.code == .disk)
    #expect(failure?.sentence.hasPrefix("Standard output cannot be written: ") == true)
    #expect(try String(contentsOf: file, encoding: .utf8) == report.junit)
  }

  @Test("the verdict is added as Markdown to the end of a file, up to the size that GitHub shows")
  func markdown() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).md")
    defer { try? FileManager.default.removeItem(at: file) }
    let outputs = try outputs("--summary-markdown", file.path)
    let (console, report) = (try Screen().console(), report)
    try outputs.prepare()
    try outputs.write(report, on: console)
    #expect(try String(contentsOf: file, encoding: .utf8) == report.markdown())
    try outputs.prepare()
    try outputs.write(report, on: console)
    #expect(try String(contentsOf: file, encoding: .utf8) == report.markdown() + "\n" + report.markdown())
    try Data(repeating: 0x61, count: CheckReport.maximumMarkdownBytes - 50).write(to: file)
    try outputs.write(report, on: console)
    #expect(try Data(contentsOf: file).count == CheckReport.maximumMarkdownBytes - 50)
    let full = try self.outputs("--summary-markdown", "/dev/full")
    let failure = #expect(throws: CallFailure.self) { try full.write(report, on: console) }
    #expect(failure?.sentence == "/dev/full cannot be written: no space left on device.")
    #expect(rejection(of: CheckOptions.self, "--summary-markdown", "-")?.contains("needs the name of a file") == true)
    #expect(rejection(of: CheckOptions.self, "--summary-markdown", "a", "--json", "a")?.contains("one file") == true)
  }

  @Test("in a job of GitHub Actions, annotations follow the table, beside a report on standard error")
  func annotations() throws {
    let report = report
    for (arguments, onStandardError) in [([], false), (["--json", "-"], true)] {
      let screen = try Screen()
      let outputs = try RuleOptions.parse(arguments).outputs
      screen.console(isInWorkflow: true).verdict(report, outputs: outputs)
      let lines = (onStandardError ? screen.errors : screen.output).split(separator: "\n")
      #expect(lines.suffix(report.annotations.count).elementsEqual(report.annotations.map { Substring($0) }))
      #expect(lines.count > report.annotations.count && !report.annotations.isEmpty)
      let usual = try Screen()
      usual.console().verdict(report, outputs: outputs)
      #expect(!(usual.output + usual.errors).contains("::error"))
    }
  }
}
