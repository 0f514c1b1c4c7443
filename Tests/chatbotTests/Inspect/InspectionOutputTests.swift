import ArgumentParser
import CallCheck
import CallReport
import Console
import Foundation
import Inspection
import InspectionTestSupport
import Logging
import Testing

@testable import chatbot

/// The outputs and the command line of an inspection.
@Suite struct InspectionOutputTests {
  @Test func everyOutputIsWrittenAndThePagePlaysTheRecording() async throws {
    let folder = try RecordedFolder()
    try await folder.record(SyntheticPeer(seconds: 2))
    try FileManager.default.createDirectory(atPath: folder.file("pages"), withIntermediateDirectories: false)
    let report = try folder.inspect(
      options: [
        "--json", folder.file("pages/r.json"), "--junit", folder.file("pages/r.xml"), "--html",
        folder.file("pages/r.html"),
      ]
    ).report
    let json = String(decoding: try folder.bytes("pages/r.json"), as: UTF8.self)
    #expect(try json == report.json)
    let junit = String(decoding: try folder.bytes("pages/r.xml"), as: UTF8.self)
    #expect(junit == report.junit)
    let page = String(decoding: try folder.bytes("pages/r.html"), as: UTF8.self)
    let film = Data(try folder.bytes("anna.webm")).base64EncodedString()
    let hasFilm = page.contains("data:video/webm;base64,\(film)")
    #expect(hasFilm)
  }

  @Test func anEarlierReportIsComparedWith() async throws {
    let folder = try RecordedFolder()
    try await folder.record(SyntheticPeer(seconds: 4))
    let better = folder.file("better.txt")
    _ = try folder.inspect([folder.file("anna.json")], options: ["--json", better])
    let other = try RecordedFolder()
    try await other.record(SyntheticPeer(seconds: 4, lostVideoFrames: 1..<2.5))
    let comparison = try #require(try other.inspect(options: ["--baseline", better]).report.comparison)
    #expect(comparison.newFailures.map(\.rule) == ["video.freeze.longest <= 1s"])
    #expect(comparison.worse.contains { $0.measurement == "video.freeze.longest" })
  }

  @Test func theOptionsDecideWhatIsExpected() async throws {
    let folder = try RecordedFolder()
    try await folder.record(SyntheticPeer(seconds: 2, audioFrom: 2))
    let outcome = try folder.inspect(options: ["--no-audio", "--expect", "video.fps >= 15"], peers: 2)
    #expect(outcome.report.expected == CheckExpectation(peers: 2, audio: false))
    #expect(outcome.report.rules.map(\.rule) == ["peers >= 2", "video.fps >= 15"])
    #expect(outcome.report.failedRules == ["peers >= 2"])
    let byDefault = try folder.inspect(options: [])
    #expect(byDefault.report.expected == CheckExpectation() && byDefault.report.rulesAreDefault)
    #expect(byDefault.remarks == ["The inspected files contain no audio; with --no-audio none is expected."])
  }

  @Test func whatCannotBeInspectedIsAFailureOfItsOwn() throws {
    let folder = try RecordedFolder()
    let failure = #expect(throws: CallFailure.self) { try folder.inspect(options: []) }
    #expect(failure?.code == .fileNotPlayable && failure?.sentence == "“\(folder.path)” holds no recording.")
  }

  @Test func nothingIsWrittenOverWhatIsInspected() async throws {
    let folder = try RecordedFolder()
    try await folder.record(SyntheticPeer(seconds: 1))
    for (option, name) in [("--json", "anna.json"), ("--html", "anna.webm"), ("--junit", "anna.ogg")] {
      let before = try folder.bytes(name)
      do {
        _ = try folder.inspect(options: [option, folder.file(name)])
        Issue.record("\(name) was accepted as an output.")
      } catch let failure as CallFailure {
        #expect(failure.code == .usage)
        #expect(failure.sentence == "“\(folder.file(name))” is an inspected file, so it is not overwritten.")
      }
      let isSame = try folder.bytes(name) == before
      #expect(isSame)
    }
  }

  @Test func theVerdictHasBeenToldWhenAReportCannotBeWritten() async throws {
    let folder = try RecordedFolder()
    try await folder.record(SyntheticPeer(seconds: 1))
    let screen = try Screen()
    let inspect = Inspect(
      files: [folder.path], peers: nil, rules: try RuleOptions.parse(["--json", "/dev/full"]),
      console: screen.console(),
      log: Logger(label: "inspect") { _ in SwiftLogNoOpLogHandler() })
    let outcome = try inspect.run()
    let failure = #expect(throws: CallFailure.self) { try inspect.report(outcome) }
    #expect(failure?.code == .disk)
    #expect(failure?.sentence.hasPrefix("/dev/full cannot be written: ") == true)
    #expect(screen.output.contains(outcome.report.summary))
  }

  @Test func theCommandLineIsUnderstoodOrRefusedInASentence() throws {
    #expect(try InspectCommand.parse(["a.webm", "b", "--peers", "2"]).files == ["a.webm", "b"])
    #expect(try InspectCommand.parse(["--measurements"]).files == [])
    for arguments in [[], [""], ["a", "--peers", "0"], ["a", "--peers", "101"], ["a", "--expect", "video.fsp >= 3"]] {
      let parsed = try? InspectCommand.parse(arguments)
      #expect(parsed == nil, "\(arguments)")
    }
  }
}

extension RecordedFolder {
  /// Inspects files as the command does.
  ///
  /// - Parameters:
  ///   - files: The files to inspect, or nil for the whole folder.
  ///   - options: Options as on the command line.
  fileprivate func inspect(
    _ files: [String]? = nil, options: [String], peers: Int? = nil
  ) throws -> RecordingInspection.Outcome {
    let screen = try Screen()
    let inspect = Inspect(
      files: files ?? [path], peers: peers, rules: try RuleOptions.parse(options),
      console: screen.console(isQuiet: true),
      log: Logger(label: "inspect") { _ in SwiftLogNoOpLogHandler() })
    let outcome = try inspect.run()
    try inspect.report(outcome)
    return outcome
  }
}
