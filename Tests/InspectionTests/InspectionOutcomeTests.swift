import CallCheck
import CallReport
import Inspection
import InspectionTestSupport
import Media
import Testing

/// What an inspection returns beside the figures of the peers.
@Suite struct InspectionOutcomeTests {
  @Test func aLargeFileIsLinkedToFromWhereThePageLies() throws {
    let folder = try RecordedFolder()
    try folder.store([UInt8](repeating: 0, count: HTMLReport.maximumEmbedded + 1), as: "long.webm")
    try folder.copy(RecordedFolder.sample, as: "short.webm")
    var outcome = try folder.inspect([folder.file("short.webm")])
    outcome.report.peers[0].recordings.append(folder.file("long.webm"))
    let recordings = outcome.recordings(forPageAt: folder.file("pages/r.html"))
    guard case .file(let link)? = recordings[folder.file("long.webm")] else {
      Issue.record("The large file is not linked.")
      return
    }
    #expect(link == "../long.webm")
    guard case .bytes? = recordings[folder.file("short.webm")] else {
      Issue.record("The small file is not embedded in the page.")
      return
    }
  }

  @Test func expectedPeersAreARuleAmongTheOthers() async throws {
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
    let given = try folder.inspect(nil, "video.fps >= 15", peers: 2).report
    #expect(given.rules.map(\.rule) == ["peers >= 2", "video.fps >= 15"])
    #expect(given.failedRules == ["peers >= 2"])
  }

  @Test func noFileThatIsToBeWrittenMayBeInspected() async throws {
    let folder = try RecordedFolder()
    try await folder.record(SyntheticPeer(seconds: 1))
    for name in ["anna.json", "anna.webm", "anna.ogg"] {
      #expect(throws: RecordingInspection.OpenError.outputIsInspected(path: folder.file(name))) {
        _ = try RecordingInspection(opening: [folder.path], outputs: ["report.html", folder.file(name)])
      }
    }
  }

  @Test func progressIsReportedFromTheFirstFileToTheLastFrame() async throws {
    let folder = try RecordedFolder()
    try await folder.record(SyntheticPeer(seconds: 2), SyntheticPeer(id: "ben", seconds: 1))
    var opening: [RecordingInspection.Progress] = []
    let inspection = try RecordingInspection(opening: [folder.path]) { opening.append($0) }
    #expect(opening == [.opening(1, of: 2), .opening(2, of: 2)])
    #expect(inspection.recordings.map(\.participant.text) == ["anna", "ben"])
    #expect(inspection.recordings.first?.files == [folder.file("anna.ogg"), folder.file("anna.webm")])
    var times: [Duration] = []
    var ends: Set<Duration> = []
    _ = inspection.run { step in
      guard case .judging(let time, let end) = step else { return }
      times.append(time)
      ends.insert(end)
    }
    #expect(times.count == 60 + 30 + 100 + 50 && times == times.sorted())
    #expect(ends.count == 1 && ends.allSatisfy { abs($0 / .seconds(1) - 2) < 0.1 })
  }
}
