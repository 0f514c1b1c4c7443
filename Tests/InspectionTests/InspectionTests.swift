import CallCheck
import CallReport
import Foundation
import Inspection
import InspectionTestSupport
import Media
import Recorder
import Testing

/// Inspections of recordings, from the files to the report.
@Suite struct InspectionTests {
  @Test func aFileOfAnotherProgramIsAPeerWithItsOwnFigures() throws {
    let folder = try RecordedFolder()
    let outcome = try folder.inspect([RecordedFolder.sample], "loss <= 5%", "video.fps >= 29")
    let report = outcome.report
    let peer = try #require(report.peers.first)
    #expect(report.subject == .recording)
    #expect(report.room == "test.webm")
    #expect(report.peers.map(\.id) == ["test.webm"])
    #expect(peer.video?.frames == 300)
    #expect(peer.audio?.packets == 500)
    #expect(abs((peer.video?.fps ?? 0) - 30) < 0.2)
    #expect(peer.video?.freezes.count == 0)
    #expect(peer.recordings == [RecordedFolder.sample])
    #expect(report.start == nil)
    // Such a file has no packet counts.
    #expect(report.failedRules == ["loss <= 5%"])
    #expect(report.result("loss <= 5%")?.outcome == .notMeasured)
    #expect(report.result("loss <= 5%")?.sentence == "Loss could not be measured: no packets were counted.")
    #expect(outcome.problems.isEmpty && outcome.remarks.isEmpty)
  }

  @Test func aGoodRecordingHoldsAllRules() async throws {
    let folder = try RecordedFolder()
    try await folder.record(SyntheticPeer())
    let outcome = try folder.inspect()
    let peer = try #require(outcome.report.peer("anna"))
    #expect(outcome.report.failedRules == [])
    #expect(outcome.report.verdict == .held)
    #expect(outcome.report.rulesAreDefault)
    #expect(outcome.report.room == "100")
    #expect(outcome.report.start == "2026-03-01T09:30:00.260Z")
    #expect(peer.video?.frames == 180)
    #expect(peer.audio?.packets == 300)
    #expect(peer.audio?.silence.count == 0)
    #expect(peer.departure?.cause == .left)
    #expect(abs(outcome.report.duration - 6) < 0.01)
    #expect(peer.recordings == [folder.file("anna.webm"), folder.file("anna.ogg")])
    #expect(outcome.problems.isEmpty && outcome.remarks.isEmpty)
  }

  @Test func chatBesideARecordingIsOnItsTimeAxis() async throws {
    let folder = try RecordedFolder()
    try await folder.record(SyntheticPeer())
    let lines = [
      #"{"time":2.5,"date":"2026-03-01T09:30:02.750Z","from":"bert","name":"Bert","text":"late"}"#,
      #"{"time":0.5,"date":"2026-03-01T09:30:00.750Z","from":"anna","text":"early"}"#, "not JSON", "{}",
      #"{"time":1e300,"from":"anna","text":"never"}"#,
    ]
    try folder.store(Array(lines.joined(separator: "\n").utf8), as: "anna.chat.jsonl")
    let messages = try #require(try folder.inspect().report.peer("anna")?.messages)
    #expect(messages.map(\.text) == ["early", "late"])
    #expect(messages.map(\.from) == ["anna", "bert"])
    #expect(messages.map(\.name) == [nil, "Bert"])
    #expect(messages.map(\.time) == [0.5, 2.5])
  }

  @Test func lostVideoFramesAreAFreezeWithItsReason() async throws {
    let folder = try RecordedFolder()
    try await folder.record(SyntheticPeer(lostVideoFrames: 2..<4))
    let report = try folder.inspect().report
    #expect(report.failedRules == ["video.freeze.longest <= 1s"])
    let freeze = try #require(report.peers.first?.video?.freezes.worst)
    #expect(abs(freeze.duration - 2.033) < 0.02)
    #expect(abs(freeze.start - 1.967) < 0.02)
    #expect(freeze.reason == "lost")
    #expect(report.results.first { !$0.holds }?.sentence.contains("because packets were lost") == true)
    // A single file of a recording is judged with its manifest.
    let alone = try folder.inspect([folder.file("anna.webm")]).report
    #expect(alone.peers.map(\.id) == ["anna"])
    #expect(alone.peers.first?.video?.freezes.worst?.reason == "lost")
    // Without the manifest the reason of the gap is unknown.
    try folder.remove("anna.json")
    let foreign = try folder.inspect([folder.file("anna.webm")]).report
    #expect(foreign.peers.map(\.id) == ["anna.webm"])
    let unexplained = try #require(foreign.peers.first?.video?.freezes.worst)
    // Nothing says why frames are missing.
    #expect(unexplained.reason == nil)
  }

  @Test func blackVideoFramesAndSilenceAreFoundWhereTheyAre() async throws {
    let folder = try RecordedFolder()
    try await folder.record(SyntheticPeer(black: 1..<3, silent: 2..<4.5))
    let report = try folder.inspect().report
    #expect(report.failedRules == ["video.black.longest <= 1s", "audio.silence.longest <= 2s"])
    let black = try #require(report.peers.first?.video?.black.worst)
    let silence = try #require(report.peers.first?.audio?.silence.worst)
    #expect(abs(black.start - 1) < 0.05 && abs(black.duration - 2) < 0.05)
    #expect(abs(silence.start - 2) < 0.1 && abs(silence.duration - 2.5) < 0.1)
  }

  @Test func lostAudioIsAHoleAlthoughTheRecorderMadeSomethingUp() async throws {
    let folder = try RecordedFolder()
    try await folder.record(SyntheticPeer(lostAudio: 2..<2.8))
    for files in [["anna.webm"], ["anna.ogg"], ["anna.json"]] {
      let report = try folder.inspect(files.map(folder.file), "audio.gap <= 500ms").report
      let gap = try #require(report.peers.first?.audio?.gaps.worst, "\(files)")
      #expect(abs(gap.start - 2) < 0.01, "\(files)")
      #expect(abs(gap.duration - 0.8) < 0.01, "\(files)")
      #expect(gap.reason == "lost")
      #expect(report.failedRules == ["audio.gap <= 500ms"])
      // As a player would conceal it.
      #expect(abs((report.peers.first?.audio?.concealed ?? 0) - 0.2) < 0.03, "\(files)")
    }
  }

  @Test func theCountsOfTheManifestAreTheLinesOwn() async throws {
    let folder = try RecordedFolder()
    var counts = TrackStatistics()
    counts.packetsExpected = 1_010
    counts.packetsReceived = 960
    counts.packetsPadding = 10
    counts.packetsLost = 40
    counts.packetsRecovered = 10
    counts.keyframeRequests = 3
    try await folder.record(SyntheticPeer(lostVideoFrames: 2..<2.5), counts: [.video: counts])
    let report = try folder.inspect(
      nil, "loss <= 5%", "loss.final <= 4%", "jitter.p95 <= 30ms", "firstPacket <= 2s"
    ).report
    let video = try #require(report.peers.first?.connection.video)
    #expect(video.sent == 1_000 && video.received == 960 && video.lost == 40 && video.recovered == 10)
    #expect(video.keyframeRequests == 3)
    #expect(report.result("loss <= 5%")?.value == 0.05)
    #expect(report.result("loss <= 5%")?.holds == true)
    #expect(report.result("loss.final <= 4%")?.value == 0.04)
    // The manifest does not have these values, so the rules cannot be measured.
    #expect(report.result("jitter.p95 <= 30ms")?.outcome == .notMeasured)
    #expect(report.result("firstPacket <= 2s")?.outcome == .notMeasured)
    // Loss has its place at the gap. Packets that are in no gap have none, so elsewhere it is missing.
    let peer = try #require(report.peers.first)
    #expect(peer.timeline.loss.indices.filter { peer.timeline.loss[$0] != nil } == [15])
    #expect((peer.timeline.loss[15] ?? 0) > 0.05)
    // What a recording does not tell is missing, not zero.
    #expect(peer.timeline.keyframeRequests.allSatisfy { $0 == nil })
    #expect(peer.timeline.sentBitrate.allSatisfy { $0 == nil })
    #expect(peer.connection.sent == nil && peer.steps.firstPacket == nil)
    #expect(peer.steps.localCandidates == nil && peer.steps.remoteCandidates == nil)
  }

  @Test func audioBeforeTheFirstVideoFrameIsHeardFromTheOgg() async throws {
    let folder = try RecordedFolder()
    try await folder.record(SyntheticPeer(seconds: 8, videoFramesFrom: 5))
    let report = try folder.inspect().report
    let peer = try #require(report.peers.first)
    #expect(report.failedRules == [])
    #expect(peer.audio?.start == 0)
    #expect(peer.audio?.packets == 400)
    #expect(abs((peer.video?.start ?? 0) - 5) < 0.02)
    #expect(peer.audio?.silence.count == 0)
    #expect(peer.audio?.gaps.count == 0)
  }

  @Test func segmentsAreJoinedWithoutASeam() async throws {
    let folder = try RecordedFolder()
    try await folder.record(SyntheticPeer(seconds: 7), segment: SegmentLimit(duration: .seconds(2)))
    let segments = folder.names.filter { $0.hasSuffix(".webm") }
    #expect(segments.count >= 3)
    for files in [[folder.path], segments.map(folder.file)] {
      let report = try folder.inspect(files).report
      let peer = try #require(report.peers.first)
      #expect(report.peers.count == 1)
      #expect(report.failedRules == [])
      #expect(peer.video?.frames == 210)
      #expect(peer.audio?.packets == 350)
      #expect(peer.video?.freezes.count == 0)
      #expect(peer.video?.decodeErrors == 0)
      #expect(peer.audio?.gaps.count == 0)
      #expect(peer.audio?.silence.count == 0)
      #expect(peer.audio?.concealed == 0)
    }
    // A single segment is judged at its own position.
    let second = try folder.inspect([folder.file(segments[1])]).report
    #expect(abs((second.peers.first?.video?.start ?? 0) - 2) < 0.1)
  }

  @Test func aPauseBeforeASegmentsEndMovesNothing() async throws {
    let folder = try RecordedFolder()
    try await folder.record(
      SyntheticPeer(seconds: 4, lostVideoFrames: 1..<1.95), segment: SegmentLimit(duration: .seconds(2)))
    #expect(folder.names.contains("anna.0002.webm"))
    let report = try folder.inspect().report
    let peer = try #require(report.peers.first)
    #expect(report.failedRules == [])
    #expect(peer.video?.freezes.count == 1)
    #expect(abs((peer.video?.freezes.longest ?? 0) - 1) < 0.02)
    #expect(abs(report.duration - 4) < 0.01)
  }

  @Test func twoUsersOfAFolderAreTwoPeersSideBySide() async throws {
    let folder = try RecordedFolder()
    try await folder.record(
      SyntheticPeer(id: "anna"), SyntheticPeer(id: "ben", videoFramesFrom: 2, audioFrom: 2, silent: 2..<6))
    let outcome = try folder.inspect(nil, "peers == 2", "audio.silence <= 2s")
    let report = outcome.report
    #expect(report.peers.map(\.id) == ["anna", "ben"])
    #expect(report.roomReport.peersAtOnce == 2)
    #expect(report.failedRules == ["audio.silence <= 2s"])
    #expect(report.result("audio.silence <= 2s", of: "anna")?.holds == true)
    #expect(report.result("audio.silence <= 2s", of: "ben")?.holds == false)
    #expect(abs((report.peer("ben")?.video?.start ?? 0) - 2) < 0.02)
    #expect(abs(report.duration - 6) < 0.01)
    // Naming the files or the folder gives the same report.
    let named = try folder.inspect(
      folder.names.map(folder.file), "peers == 2", "audio.silence <= 2s")
    #expect(try named.report.json == report.json)
  }

  @Test func oneUsersTwoRecordingsAreTwoPeers() async throws {
    let folder = try RecordedFolder()
    try await folder.record(SyntheticPeer(seconds: 2))
    try await folder.record(SyntheticPeer(seconds: 2), wallClock: RecordedFolder.wallClock + 86_400)
    let outcome = try folder.inspect()
    #expect(outcome.report.peers.map(\.id) == ["anna", "anna (anna-2)"])
    // The time between two calls is part of neither.
    #expect(abs(outcome.report.duration - 2) < 0.01)
    #expect(outcome.report.start == nil)
    #expect(outcome.remarks == ["The recordings are from 2 calls; each call is judged from its own start."])
  }

  /// A screen that is shared from the second to the fourth second, without audio.
  private var screen: SyntheticPeer { SyntheticPeer(stream: 2, seconds: 4, videoFramesFrom: 2, audioFrom: 4) }

  @Test func theRecordingsOfAUsersStreamsAreOnePeerOnOneTimeAxis() async throws {
    let folder = try RecordedFolder()
    try await folder.record(SyntheticPeer(), screen)
    #expect(folder.names.contains("anna.2.webm"))
    let outcome = try folder.inspect(
      nil, "default", "2.video.fps >= 29", "2.video.freeze == 0", "3.video.fps >= 1")
    let report = outcome.report
    #expect(report.peers.map(\.id) == ["anna"])
    #expect(report.expected.peers == 1)
    let peer = try #require(report.peers.first)
    #expect(peer.video?.frames == 180 && peer.audio?.packets == 300)
    let stream = try #require(peer.streams?.first)
    #expect(peer.streams?.count == 1 && stream.number == 2)
    #expect(stream.video?.frames == 60 && stream.audio == nil)
    #expect(abs((stream.video?.start ?? 0) - 2) < 0.02)
    #expect(abs((stream.video?.duration ?? 0) - 2) < 0.05)
    #expect(report.failedRules == ["3.video.fps >= 1"])
    #expect(
      report.result("3.video.fps >= 1")?.sentence
        == "Frame rate of stream 3 could not be measured: anna sent no third stream.")
    #expect(peer.recordings == ["anna.webm", "anna.ogg", "anna.2.webm"].map(folder.file))
    #expect(abs(report.duration - 6) < 0.01)
    #expect(peer.departure?.cause == .left && outcome.problems.isEmpty && outcome.remarks.isEmpty)
    #expect(report.table().contains("  stream 2, video  "))
    // Without the recording of the first stream, it is the same stream.
    let alone = try folder.inspect([folder.file("anna.2.webm")], "2.video.fps >= 29").report
    #expect(alone.peers.map(\.id) == ["anna"] && alone.failedRules == [])
    #expect(alone.peers.first?.streams?.map(\.number) == [2])
  }

  @Test func theStreamsOfTwoCallsOfAUserAreThoseOfTwoPeers() async throws {
    let folder = try RecordedFolder()
    try await folder.record(SyntheticPeer(), screen)
    try await folder.record(SyntheticPeer(seconds: 3), screen, wallClock: RecordedFolder.wallClock + 86_400)
    let report = try folder.inspect().report
    #expect(report.peers.map(\.id) == ["anna", "anna (anna-2)"])
    #expect(report.peers.map { $0.streams?.map(\.number) } == [[2], [2]])
    #expect(report.peers.map { $0.audio?.packets } == [300, 150])
  }

  @Test func aStreamWithANumberThatNoStreamHasIsAPeerOfItsOwn() async throws {
    let folder = try RecordedFolder()
    try await folder.record(SyntheticPeer(), screen)
    try folder.edit("anna.2.json") { $0.replacing(#""number" : 2"#, with: #""number" : 99"#) }
    let report = try folder.inspect(nil, audio: false).report
    #expect(report.peers.map(\.id) == ["anna", "anna (anna.2)"])
    #expect(report.peers.last?.video?.frames == 60)
    #expect(report.peers.allSatisfy { $0.streams == nil && $0.streamsNotJudged == nil })
  }

  @Test func filesWithoutAManifestArePeersOfTheirOwn() async throws {
    let folder = try RecordedFolder()
    try await folder.record(SyntheticPeer(seconds: 2))
    try folder.copy(RecordedFolder.sample, as: "guest.webm")
    try folder.copy(folder.file("anna.ogg"), as: "tape.ogg")
    try folder.store(Array("{\"version\": 1}".utf8), as: "report.json")
    try folder.store(Array("{".utf8), as: "tape.json")
    try folder.store(Array("hello".utf8), as: "notes.txt")
    let outcome = try folder.inspect()
    #expect(Set(outcome.report.peers.map(\.id)) == ["anna", "guest.webm", "tape.ogg"])
    #expect(outcome.report.peer("tape.ogg")?.audio?.packets == 100)
    #expect(outcome.problems.isEmpty)
    #expect(outcome.remarks.count == 1)
    #expect(outcome.remarks.first?.contains("tape.json” is not a recording's manifest") == true)
    #expect(Set(outcome.report.results.filter { !$0.holds }.map(\.peer)) == ["tape.ogg"])
  }

  @Test func videoFrameFilesInIVFAreJudged() async throws {
    let folder = try RecordedFolder()
    var peer = SyntheticPeer(seconds: 2)
    peer.audioFrom = 2
    try folder.store(try IVF.bytes(of: peer), as: "film.ivf")
    let outcome = try folder.inspect(nil, audio: false)
    #expect(outcome.report.failedRules == [])
    #expect(outcome.report.peer("film.ivf")?.video?.frames == 60)
    let withAudio = try folder.inspect()
    #expect(withAudio.report.verdict == .failed)
    #expect(withAudio.remarks == ["The inspected files contain no audio; with --no-audio none is expected."])
  }

  @Test func theSameRecordingGivesTheSameReportByteForByte() async throws {
    let folder = try RecordedFolder()
    try await folder.record(
      SyntheticPeer(seconds: 3, lostVideoFrames: 1..<2, lostAudio: 1..<1.4), SyntheticPeer(id: "ben", seconds: 3))
    let inspection = try RecordingInspection(opening: [folder.path])
    let first = try inspection.run().report.json
    // Also of files that are open already.
    let second = try inspection.run().report.json
    let third = try folder.inspect().report.json
    #expect(first == second && first == third)
    #expect(first.utf8.count > 1_000)
  }
}
