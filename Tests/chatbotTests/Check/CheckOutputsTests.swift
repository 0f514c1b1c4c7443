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

  @Test("an existing file needs write permission for itself or its folder, a new one for its folder")
  func rights() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("rights-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("open.json").path
    try Data("old, and longer than what is new".utf8).write(to: URL(fileURLWithPath: file))
    let before = try FileManager.default.attributesOfItem(atPath: file)[.systemFileNumber] as? Int
    func outputs(_ path: String, writable: Set<String>) throws -> CheckOutputs {
      var outputs = try self.outputs("--json", path)
      outputs.mayWrite = { writable.contains($0) }
      return outputs
    }
    // No temporary file can be created beside it, so it is overwritten in place.
    let inPlace = try outputs(file, writable: [file])
    try inPlace.prepare()
    let report = report
    try inPlace.write(report, on: try Screen().console())
    #expect(try String(contentsOfFile: file, encoding: .utf8) == report.json)
    #expect(try FileManager.default.attributesOfItem(atPath: file)[.systemFileNumber] as? Int == before)
    // A file may be replaced if only its folder is writable.
    #expect(throws: Never.self) { try outputs(file, writable: [folder.path]).prepare() }
    #expect(throws: Never.self) { try outputs("/dev/null", writable: ["/dev/null"]).prepare() }
    #expect(throws: Never.self) { try outputs(folder.path + "/new", writable: [folder.path]).prepare() }
    for path in [file, folder.path + "/new", "/dev/null"] {
      #expect(throws: CallFailure.self) { try outputs(path, writable: ["/dev"]).prepare() }
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
    // A file in a writable folder cannot be replaced, as other programs add to it.
    var denied = outputs
    denied.mayWrite = { $0 != file.path }
    #expect(throws: CallFailure.self) { try denied.prepare() }
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
