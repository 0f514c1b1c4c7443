import CallCheck
import Foundation
import Inspection
import InspectionTestSupport
import Media
import Recorder
import TestSupport
import Testing

/// Damaged recordings: what can be read is judged, the rest is reported, and nothing traps.
@Suite struct DamagedRecordingTests {
  /// The sentence with which opening fails; nil if it does not, or because of something else.
  private func failure(_ inspect: () throws -> RecordingInspection.Outcome) -> String? {
    do {
      _ = try inspect()
      return nil
    } catch {
      guard let error = error as? RecordingInspection.OpenError, case .noRecordings = error else { return nil }
      return error.description
    }
  }

  @Test func whatIsNotThereIsSaidInASentence() throws {
    let folder = try RecordedFolder()
    let missing = failure { try folder.inspect([folder.file("none.webm")]) }
    #expect(missing == "“\(folder.file("none.webm"))” cannot be inspected: no such file or directory.")
    let empty = failure { try folder.inspect() }
    #expect(empty == "“\(folder.path)” holds no recording.")
    #expect(failure { try folder.inspect([folder.file("none.json")]) } != nil)
  }

  @Test func whatIsNoRecordingIsSaidInASentence() throws {
    let folder = try RecordedFolder()
    try folder.store([], as: "empty.webm")
    try folder.store(Array("RIFF....WAVEfmt ".utf8), as: "song.wav")
    try folder.store(Array("{}".utf8), as: "report.json")
    try folder.store(Array("{\"version\": 7}".utf8), as: "later.json")
    let sentences = ["empty.webm", "song.wav", "report.json", "later.json"].map { name in
      failure { try folder.inspect([folder.file(name)]) } ?? ""
    }
    #expect(sentences[0] == "“\(folder.file("empty.webm"))” cannot be inspected: it is empty.")
    #expect(sentences[1].contains("cannot be inspected: it is a WAV file"))
    #expect(sentences[2] == "“\(folder.file("report.json"))” is not a recording's manifest.")
    #expect(sentences[3].contains("is not a recording's manifest"))
  }

  @Test func theSummaryOfACallIsNamedAsSuch() throws {
    let folder = try RecordedFolder()
    let summary = #"{"version":1,"endReason":{"cause":"left","text":"x"},"recordedUsers":1,"users":[]}"#
    try folder.store(Array(summary.utf8), as: "100.session.json")
    let path = folder.file("100.session.json")
    let clause = "is not a recording's manifest: it is the summary of a call; name the folder or a recording"
    #expect(failure { try folder.inspect([path]) } == "“\(path)” \(clause).")
    #expect(RoomRecorder.repair(path).map(\.outcome) == [.refused(clause)])
  }

  @Test func whatIsInspectedIsNamedForAFileOfAnotherProgram() async throws {
    let folder = try RecordedFolder()
    var peer = SyntheticPeer(seconds: 1)
    peer.audioFrom = 1
    var bytes = try IVF.bytes(of: peer)
    bytes.replaceSubrange(8..<12, with: "H264".utf8)
    try folder.store(bytes, as: "other.ivf")
    #expect(
      failure { try folder.inspect([folder.file("other.ivf")]) }
        == "“\(folder.file("other.ivf"))” cannot be inspected: "
        + "its video is H.264, which is read from Matroska, but not from IVF.")
    bytes.replaceSubrange(8..<12, with: "THEO".utf8)
    try folder.store(bytes, as: "other.ivf")
    #expect(
      failure { try folder.inspect([folder.file("other.ivf")]) }
        == "“\(folder.file("other.ivf"))” cannot be inspected: "
        + "its IVF header names none of VP8, VP9, AV1."
    )
    try folder.store(Array("fLaC\0\0\0\u{18}\0\0\0\0\0\0\0\0".utf8), as: "other.flac")
    let sentence = failure { try folder.inspect([folder.file("other.flac")]) }
    #expect(
      sentence?.contains(
        "only WebM and Matroska (VP8, H.264, VP9, AV1, H.265, Opus, G.722, PCMU, PCMA), IVF and Ogg are") == true)
  }

  @Test func videoOfAnotherProfileIsNamedAsTheCause() throws {
    let folder = try RecordedFolder()
    var peer = SyntheticPeer(seconds: 1)
    peer.audioFrom = 1
    var bytes = try Array(IVF.bytes(of: peer).prefix(32))
    bytes.replaceSubrange(8..<12, with: "VP90".utf8)
    // Frame marker, profile 1, keyframe, shown; sync code; colour space, 4:4:4; 64x48; nothing that can be decoded.
    let header: [UInt8] = [0xA2, 0x49, 0x83, 0x42, 0x20, 0x00, 0x7E, 0x00, 0x5E, 0, 0, 0, 0, 0, 0, 0]
    for number in 0..<10 {
      bytes += [UInt8(header.count), 0, 0, 0]
      bytes += withUnsafeBytes(of: UInt64(number * 3_000).littleEndian) { Array($0) } + header
    }
    try folder.store(bytes, as: "other.ivf")
    let report = try folder.inspect([folder.file("other.ivf")], "video.fps >= 1", audio: false).report
    #expect(report.summary.contains("it is VP9 of profile 1, and only the profiles 0 and 2 are decoded"))
    #expect(report.peers.first?.undecodedReason == "it is VP9 of profile 1, and only the profiles 0 and 2 are decoded")
  }

  @Test func aManifestWithoutMediaSaysWhyThereIsNone() async throws {
    let folder = try RecordedFolder()
    try await folder.record(SyntheticPeer(seconds: 2))
    var manifest = RecordingManifest(room: "100", user: "bert", name: nil, start: "2026-03-01T09:30:00.250Z")
    manifest.finished = true
    manifest.problems = ["We refused the video of section 1: only H264 is offered, but we support VP8."]
    let sentence = "“\(folder.file("bert.json"))” lists no media. \(manifest.problems[0])"
    try folder.store([UInt8](try JSONEncoder().encode(manifest)), as: "bert.json")
    let outcome = try folder.inspect()
    #expect(outcome.report.peers.map(\.id) == ["anna"])
    #expect(outcome.problems == [] && outcome.remarks == [sentence])
    #expect(failure { try folder.inspect([folder.file("bert.json")]) } == sentence)
  }

  @Test func moreRecordingsThanCanBeJudgedAreRefused() throws {
    let folder = try RecordedFolder()
    for number in 0...RecordingInspection.maximumPeers { try folder.store([], as: "\(number).webm") }
    #expect(throws: RecordingInspection.OpenError.tooManyRecordings(101)) { try folder.inspect() }
  }

  @Test func chatIsNotReadThroughALink() async throws {
    let folder = try RecordedFolder()
    try await folder.record(SyntheticPeer(seconds: 1))
    let line = #"{"time":0.5,"from":"anna","text":"hello"}"#
    try folder.store(Array(line.utf8), as: "other.txt")
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("anna.chat.jsonl"), withDestinationPath: folder.file("other.txt"))
    #expect(try folder.inspect().report.peer("anna")?.messages == nil)
    try folder.remove("anna.chat.jsonl")
    try folder.store(Array(line.utf8), as: "anna.chat.jsonl")
    #expect(try folder.inspect().report.peer("anna")?.messages?.count == 1)
  }

  @Test func theOthersAreJudgedWhenOneCannotBeRead() async throws {
    let folder = try RecordedFolder()
    try await folder.record(SyntheticPeer(seconds: 2))
    try folder.store([], as: "broken.webm")
    let outcome = try folder.inspect()
    #expect(outcome.report.peers.map(\.id) == ["anna"])
    #expect(outcome.report.verdict == .held)
    #expect(outcome.problems == ["“\(folder.file("broken.webm"))” cannot be inspected: it is empty."])
  }

  @Test func anUnfinishedRecordingIsJudgedAsFarAsItGoes() async throws {
    let folder = try RecordedFolder()
    try await folder.record(SyntheticPeer(seconds: 4))
    // As a killed program leaves it: no cues, no duration, and an outdated manifest.
    let webM = try folder.bytes("anna.webm")
    try folder.store(Array(webM.prefix(webM.count * 3 / 4)), as: "anna.webm")
    try folder.edit("anna.json") {
      $0.replacingOccurrences(of: "\"finished\" : true", with: "\"finished\" : false")
        .replacingOccurrences(of: "\"endReason\" : \"left\",", with: "")
    }
    let outcome = try folder.inspect()
    let peer = try #require(outcome.report.peer("anna"))
    let frames = peer.video?.frames ?? 0
    #expect((60..<120).contains(frames))
    #expect(peer.audio?.packets == 200)
    #expect(peer.departure?.sentence == "The recording was never finished.")
    #expect(outcome.problems.isEmpty)
    #expect(outcome.remarks.count == 1)
    #expect(outcome.remarks.first?.contains("chatbot repair \(folder.file("anna.json"))") == true)
    // The video on the disk ended before the audio: that is no freeze.
    #expect(peer.video?.freezes.count == 0 && peer.audio?.silence.count == 0)
    #expect((peer.video?.duration ?? 9) < 3.5 && (peer.audio?.duration ?? 0) > 3.9)
    #expect((29...31).contains(peer.video?.fps ?? 0))
  }

  @Test func aRepairedRecordingHasNoFreezeUntilTheEndOfItsAudio() async throws {
    let folder = try RecordedFolder()
    try await folder.record(SyntheticPeer(seconds: 4))
    let webM = try folder.bytes("anna.webm")
    try folder.store(Array(webM.prefix(webM.count * 3 / 4)), as: "anna.webm")
    try folder.edit("anna.json") {
      $0.replacingOccurrences(of: "\"finished\" : true", with: "\"finished\" : false")
        .replacingOccurrences(of: "\"endReason\" : \"left\",", with: "")
    }
    #expect(RoomRecorder.repair(folder.path).map(\.isComplete) == [true, true, true])
    let peer = try #require(folder.inspect().report.peer("anna"))
    #expect(peer.video?.freezes.count == 0 && peer.audio?.silence.count == 0 && peer.audio?.gaps.count == 0)
    #expect((peer.video?.duration ?? 9) + 0.3 < peer.audio?.duration ?? 0)
  }

  @Test func whatADiskDidNotTakeAtTheEndIsAFreezeAndAHoleInTheAudio() async throws {
    let folder = try RecordedFolder()
    try await folder.record(SyntheticPeer(seconds: 6))
    // The files end after half of the call, and the manifest says how long the call continued.
    for name in ["anna.webm", "anna.ogg"] {
      let whole = try folder.bytes(name)
      try folder.store(Array(whole.prefix(whole.count / 2)), as: name)
    }
    try folder.edit("anna.json") {
      $0.replacingOccurrences(of: "\"finished\" : true", with: "\"finished\" : false")
    }
    #expect(RoomRecorder.repair(folder.path).map(\.isComplete) == [true, true, true])
    let rules = ["video.freeze.longest <= 1s", "audio.gap.longest <= 1s", "video.frames >= 1"]
    let report = try folder.inspect(nil, rules[0], rules[1], rules[2]).report
    #expect(report.failedRules == Array(rules.prefix(2)))
    #expect(report.verdict == .failed)
    let peer = try #require(report.peer("anna"))
    let freeze = try #require(peer.video?.freezes.worst)
    #expect(freeze.reason == "untilEnd" && abs(freeze.start + freeze.duration - 6) < 0.1)
    let gap = try #require(peer.audio?.gaps.worst)
    #expect(gap.reason == "lost" && abs(gap.start + gap.duration - 6) < 0.1)
  }

  @Test func aSegmentThatTheManifestDoesNotKnowYetGoesOnBehindTheLastOne() async throws {
    let folder = try RecordedFolder()
    try await folder.record(SyntheticPeer(seconds: 5), segment: SegmentLimit(duration: .seconds(2)))
    let last = try #require(folder.names.last { $0.hasSuffix(".webm") })
    try folder.edit("anna.json") { text in
      var manifest = try? RecordingManifest(parsing: Array(text.utf8))
      manifest?.finished = false
      manifest?.files.removeAll { $0.name == last }
      let json = try? JSONEncoder().encode(manifest)
      return String(decoding: json ?? Data(), as: UTF8.self)
    }
    let outcome = try folder.inspect()
    let peer = try #require(outcome.report.peers.first)
    #expect(outcome.report.peers.count == 1)
    #expect(peer.video?.frames == 150)
    #expect(peer.video?.freezes.count == 0)
    #expect(outcome.remarks.contains { $0.contains(last) && $0.contains("created after its manifest") })
  }

  @Test func aManifestLeadsToNoFileElsewhere() async throws {
    let folder = try RecordedFolder()
    try await folder.record(SyntheticPeer(seconds: 2))
    try folder.copy(RecordedFolder.sample, as: "secret.webm")
    try FileManager.default.createDirectory(atPath: folder.file("sub"), withIntermediateDirectories: false)
    try FileManager.default.copyItem(atPath: folder.file("anna.json"), toPath: folder.file("sub/anna.json"))
    try folder.edit("sub/anna.json") {
      $0.replacingOccurrences(of: "\"anna.webm\"", with: "\"../secret.webm\"")
    }
    let failure = failure { try folder.inspect([folder.file("sub")]) }
    #expect(
      failure?.contains("lists “../secret.webm”, which is not the name of a recording beside it") == true)
  }

  @Test func absurdManifestsAndFilesNeverTrap() async throws {
    let folder = try RecordedFolder()
    try await folder.record(SyntheticPeer(seconds: 1, lostVideoFrames: 0.4..<0.6, lostAudio: 0.3..<0.5))
    let manifest = try folder.bytes("anna.json")
    let webM = try folder.bytes("anna.webm")
    let absurd = ["-1", "1e308", "-1e308", "9223372036854775807", "18446744073709551615", "0.0005", "null"]
    var random = SeededGenerator(seed: 5)
    var read = 0
    for round in 0..<40 {
      if round.isMultiple(of: 2) {
        var lines = String(decoding: manifest, as: UTF8.self).components(separatedBy: "\n")
        for _ in 0..<3 {
          let line = Int.random(in: 0..<lines.count, using: &random)
          guard let colon = lines[line].range(of: " : "), !lines[line].hasSuffix("{"), !lines[line].hasSuffix("[")
          else { continue }
          let comma = lines[line].hasSuffix(",") ? "," : ""
          lines[line] =
            lines[line][..<colon.upperBound] + absurd[Int.random(in: 0..<absurd.count, using: &random)] + comma
        }
        try folder.store(Array(lines.joined(separator: "\n").utf8), as: "anna.json")
        try folder.store(webM, as: "anna.webm")
      } else {
        var bytes = webM
        for _ in 0..<3 {
          bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        try folder.store(manifest, as: "anna.json")
        try folder.store(bytes, as: "anna.webm")
      }
      do {
        let outcome = try folder.inspect()
        _ = try outcome.report.json
        read += 1
      } catch let error as RecordingInspection.OpenError {
        #expect(error.description.hasSuffix("."))
      }
    }
    // The audio can be read in any case.
    #expect(read == 40)
  }
}
