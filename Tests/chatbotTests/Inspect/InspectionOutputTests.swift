import ArgumentParser
import CallCheck
import CallReport
import Foundation
import Logging
import Media
import Recorder
import Testing

@testable import chatbot

/// The outputs and the command line of an inspection.
@Suite struct InspectionOutputTests {
  @Test func everyOutputIsWrittenAndThePagePlaysTheRecording() async throws {
    let folder = try RecordedFolder()
    try await folder.record(SyntheticPeer(seconds: 2))
    try FileManager.default.createDirectory(atPath: folder.file("pages"), withIntermediateDirectories: false)
    let report = try folder.inspect(
      nil, "--json", folder.file("pages/r.json"), "--junit", folder.file("pages/r.xml"), "--html",
      folder.file("pages/r.html")
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

  @Test func aLargeFileIsLinkedToFromWhereThePageLies() throws {
    let folder = try RecordedFolder()
    try FileManager.default.createDirectory(atPath: folder.file("pages"), withIntermediateDirectories: false)
    try folder.store([UInt8](repeating: 0, count: HTMLReport.maximumEmbedded + 1), as: "long.webm")
    try folder.copy(RecordedFolder.sample, as: "short.webm")
    var report = try folder.inspect([folder.file("short.webm")]).report
    report.peers[0].recordings.append(folder.file("long.webm"))
    let page = InspectionPage(path: folder.file("pages/r.html")).content(of: report)
    guard case .file(let link)? = page.recordings[folder.file("long.webm")] else {
      Issue.record("The large file is not linked.")
      return
    }
    #expect(link == "../long.webm")
    guard case .bytes? = page.recordings[folder.file("short.webm")] else {
      Issue.record("The small file is not embedded in the page.")
      return
    }
  }

  @Test func anEarlierReportIsComparedWith() async throws {
    let folder = try RecordedFolder()
    try await folder.record(SyntheticPeer(seconds: 4))
    let better = folder.file("better.txt")
    _ = try folder.inspect([folder.file("anna.json")], "--json", better)
    let other = try RecordedFolder()
    try await other.record(SyntheticPeer(seconds: 4, lostVideoFrames: 1..<2.5))
    let comparison = try #require(try other.inspect(nil, "--baseline", better).report.comparison)
    #expect(comparison.newFailures.map(\.rule) == ["video.freeze.longest <= 1s"])
    #expect(comparison.worse.contains { $0.measurement == "video.freeze.longest" })
  }

  @Test func expectedPeersAreARuleOfTheProgramsOwn() async throws {
    let folder = try RecordedFolder()
    try await folder.record(SyntheticPeer(seconds: 2))
    let one = try folder.inspect(nil, peers: 1).report
    let two = try folder.inspect(nil, peers: 2).report
    #expect(one.failedRules == [])
    #expect(two.failedRules == ["peers >= 2"])
    #expect(two.rulesAreDefault)
    #expect(two.rules.first?.reason == "All expected peers were present.")
    let hasReasons = two.rules.allSatisfy { $0.reason != nil }
    #expect(hasReasons)
    #expect(two.expected.peers == 2)
    let given = try folder.inspect(nil, "--expect", "video.fps >= 15", peers: 2).report
    #expect(given.rules.map(\.rule) == ["peers >= 2", "video.fps >= 15"])
    #expect(given.failedRules == ["peers >= 2"])
  }

  @Test func nothingIsWrittenOverWhatIsInspected() async throws {
    let folder = try RecordedFolder()
    try await folder.record(SyntheticPeer(seconds: 1))
    for (option, name) in [("--json", "anna.json"), ("--html", "anna.webm"), ("--junit", "anna.ogg")] {
      let before = try folder.bytes(name)
      do {
        _ = try folder.inspect(nil, option, folder.file(name))
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
    let inspection = Inspection(
      files: [folder.path], peers: nil, rules: try RuleOptions.parse(["--json", "/dev/full"]),
      console: screen.console(),
      log: Logger(label: "inspect") { _ in SwiftLogNoOpLogHandler() })
    let outcome = try inspection.run()
    let failure = #expect(throws: CallFailure.self) { try inspection.report(outcome) }
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

  @Test func theProgressIsALineWithoutAnEnd() {
    let progress = InspectionProgress(recordings: 2, end: 720_000 * 61, console: Console(isQuiet: true))
    #expect(
      progress.line(720_000 * 25, elapsed: .seconds(2))
        == "inspect: 2 recordings, 40 %, 0:25 of 1:01, 13x as fast as it was made")
    #expect(progress.line(-5, elapsed: .zero) == "inspect: 2 recordings, 0 %, 0:00 of 1:01")
    let long = InspectionProgress(recordings: 1, end: 720_000 * 4_000, console: Console(isQuiet: true))
    #expect(long.line(.max, elapsed: .zero) == "inspect: 1 recording, 100 %, 1:06:40 of 1:06:40")
  }
}
