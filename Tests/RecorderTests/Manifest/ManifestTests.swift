import Foundation
import Media
import NIOCore
import Recorder
import Testing

@Suite("Manifest and life cycle of a recording")
struct ManifestTests {
  private func short(_ owner: String, video: Bool = false) throws -> Script {
    var script = Script(owner)
    script.add(try TestMedia.tone(1), codec: .opus)
    if video { script.add(try TestMedia.videoFrames(1), codec: .vp8) }
    return script
  }

  @Test("a manifest that is read back equals the written one")
  func roundTrip() async throws {
    let folder = TestFolder()
    var script = try short("3f2a", video: true)
    var counts = TrackStatistics()
    counts.packetsReceived = 1_000
    counts.packetsLost = 3
    counts.packetsRecovered = 7
    script.add(.statistics(TrackID(of: ParticipantID("alice"), kind: .video), counts), at: 1)
    let summary = try #require(try await folder.record(script, reason: .connectionLost).first)
    let text = try folder.bytes("3f2a.json")
    let read = try RecordingManifest(parsing: text)
    #expect(read == summary.manifest)
    #expect(read.version == 2 && read.finished && read.endReason == .connectionLost)
    #expect(read.room == "100" && read.user == "3f2a")
    #expect(read.start == "2026-03-01T09:30:00.260Z")
    let video = try #require(summary.track(.video))
    #expect(video.packets == 1_000 && video.lost == 3 && video.recovered == 7)
    #expect(video.frames == 30 && video.keyframes == 1 && video.decodeErrors == 0)
    #expect(video.sizes == [.init(time: 0, width: 160, height: 120)])
    #expect(summary.paths == ["3f2a.webm", "3f2a.ogg", "3f2a.json"].map { "\(folder.path)/\($0)" })
    #expect(String(decoding: text, as: UTF8.self).hasSuffix("}\n"))
  }

  @Test("a manifest names the candidate pairs over which the media came, without addresses")
  func paths() async throws {
    let folder = TestFolder()
    let script = try short("anna")
    let recorder = try folder.recorder()
    let direct = RecordingManifest.NetworkPath(
      localCandidateType: "host", remoteCandidateType: "srflx", protocol: "udp", relayed: false)
    let relayed = RecordingManifest.NetworkPath(
      localCandidateType: "relay", remoteCandidateType: "prflx", protocol: "udp", relayed: true)
    recorder.setPath(direct, of: script.owner, now: Script.beginning.instant)
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    recorder.setPath(direct, of: script.owner, now: (Script.beginning + .milliseconds(125)).instant)
    await folder.play([script], to: recorder)
    for _ in 0..<150 { recorder.setPath(relayed, of: script.owner, now: (Script.beginning + .seconds(1)).instant) }
    recorder.end(script.owner, reason: .left, now: Script.beginning + .seconds(2))
    _ = await recorder.finish(now: Script.beginning + .seconds(2))
    let text = try folder.bytes("anna.json")
    let paths = try #require(try RecordingManifest(parsing: text).paths)
    #expect(paths.count == 100, "one before the recording begins is not of it, and the list is bounded")
    #expect(paths[0].since == "2026-03-01T09:30:00.375Z" && paths[0].localCandidateType == "host")
    #expect(paths[1].relayed && paths[1].remoteCandidateType == "prflx" && paths[1].protocol == "udp")
  }

  @Test("a participant whose media cannot be taken has a manifest that says why, and no media file")
  func problemWithoutMedia() async throws {
    let folder = TestFolder()
    let recorder = try folder.recorder()
    let sentence = "We refused the video of section 1: only H264 is offered, but we support VP8."
    recorder.addProblem("too early", of: "anna", now: Script.beginning.instant)
    recorder.begin("anna", name: "Anna", now: Script.beginning, wallClock: TestFolder.wallClock)
    recorder.addProblem(sentence, of: "anna", now: (Script.beginning + .milliseconds(5)).instant)
    // One who only watches has none.
    recorder.begin("bert", now: Script.beginning, wallClock: TestFolder.wallClock)
    await recorder.advance(now: Script.beginning + .milliseconds(100))
    let growing = try RecordingManifest(parsing: try folder.bytes("Anna.json"))
    #expect(!growing.finished && growing.problems == [sentence])
    recorder.end("anna", reason: .left, now: Script.beginning + .seconds(1))
    let summaries = await recorder.finish(now: Script.beginning + .seconds(2))
    #expect(summaries.map(\.base).allSatisfy { $0 == "Anna" })
    #expect(folder.names == ["Anna.json"])
    let manifest = try RecordingManifest(parsing: try folder.bytes("Anna.json"))
    #expect(manifest.finished && manifest.endReason == .left && manifest.user == "anna")
    #expect(manifest.problems == [sentence])
    #expect(manifest.tracks == [] && manifest.files == [] && manifest.duration == 0)
  }

  @Test("media that follows a problem is recorded under the name that the manifest has")
  func problemBeforeMedia() async throws {
    let folder = TestFolder()
    let script = try short("anna", video: true)
    let recorder = try folder.recorder()
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    recorder.addProblem("A second video was refused.", of: script.owner, now: Script.beginning.instant)
    await recorder.advance(now: Script.beginning + .milliseconds(1))
    await folder.play([script], to: recorder)
    recorder.end(script.owner, reason: .left, now: Script.beginning + .seconds(2))
    _ = await recorder.finish(now: Script.beginning + .seconds(2))
    let manifest = try RecordingManifest(parsing: try folder.bytes("anna.json"))
    #expect(manifest.problems == ["A second video was refused."])
    #expect(manifest.files.map(\.name).contains("anna.webm") && !manifest.tracks.isEmpty)
  }

  @Test("a manifest of a later version is rejected")
  func laterVersion() throws {
    var manifest = RecordingManifest(room: "1", user: "2", name: nil, start: "")
    manifest.version = 3
    let text = Array(try manifest.json.readableBytesView)
    #expect(throws: RecordingManifest.ReadingError.self) { try RecordingManifest(parsing: text) }
    #expect(throws: RecordingManifest.ReadingError.self) { try RecordingManifest(parsing: [0x7B]) }
  }

  @Test("a manifest that lists a file twice, has two tracks of one kind or a long run of combining marks is rejected")
  func absurd() throws {
    func reason(_ change: (inout RecordingManifest) -> Void) throws -> String? {
      var manifest = RecordingManifest(room: "1", user: "2", name: nil, start: "")
      change(&manifest)
      let text = Array(try manifest.json.readableBytesView)
      do {
        _ = try RecordingManifest(parsing: text)
        return nil
      } catch { return error.reason }
    }
    let file = RecordingManifest.File(name: "a.webm", kind: "webm", start: 0, duration: 1, bytes: 1, complete: true)
    #expect(try reason { $0.files = [file] } == nil)
    #expect(try reason { $0.files = [file, file] } == "it lists a file twice")
    let track = RecordingManifest.Track(codec: .opus)
    #expect(try reason { $0.tracks = [track] } == nil)
    #expect(try reason { $0.tracks = [track, track] } == "it has two tracks of one kind")
    let marks = String(repeating: "\u{301}\u{316}", count: 50_000)
    #expect(try reason { $0.user = "e\u{301}\u{4E2D}" } == nil)
    #expect(try reason { $0.user = marks } == "more than 1000 bytes in a row are not ASCII")
    let escapes = #"{"\#(String(repeating: #"\u0301\u0316"#, count: 50_000))":1}"#
    let error = #expect(throws: RecordingManifest.ReadingError.self) {
      try RecordingManifest(parsing: Array(escapes.utf8))
    }
    #expect(error?.reason == "more than 1000 bytes in a row are not ASCII")
    // An escaped backslash does not begin a Unicode escape.
    #expect(!Array(String(repeating: #"\\u0301"#, count: 1_000).utf8).hasRunOutsideASCII(overInJSON: 10))
  }

  @Test("two users with the same name have separate files")
  func sameName() async throws {
    let folder = TestFolder()
    _ = try await folder.record(short("1"), short("2"), names: ["anna", "anna"])
    #expect(folder.names == ["anna-2.json", "anna-2.ogg", "anna.json", "anna.ogg"])
    #expect(try RecordingManifest(parsing: folder.bytes("anna-2.json")).user == "2")
  }

  @Test("a user who joins again has new files")
  func rejoin() async throws {
    let folder = TestFolder()
    _ = try await folder.record(short("anna"))
    let first = try folder.bytes("anna.ogg")
    _ = try await folder.record(short("anna"))
    #expect(folder.names == ["anna-2.json", "anna-2.ogg", "anna.json", "anna.ogg"])
    #expect(try folder.bytes("anna.ogg") == first)
  }

  @Test("an existing file is not changed, whatever its extension")
  func existing() async throws {
    let folder = TestFolder()
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    try Data("mine".utf8).write(to: URL(fileURLWithPath: "\(folder.path)/anna.webm"))
    _ = try await folder.record(short("anna", video: true))
    #expect(folder.names == ["anna-2.json", "anna-2.ogg", "anna-2.webm", "anna.webm"])
    #expect(try folder.bytes("anna.webm") == Array("mine".utf8))
  }

  @Test("the files of an id that is a path stay in the folder")
  func hostileName() async throws {
    let folder = TestFolder()
    let summary = try #require(try await folder.record(short("../../x\u{0}")).first)
    #expect(folder.names == ["_._.._x_.json", "_._.._x_.ogg"])
    #expect(summary.manifest.user == "../../x\u{0}")
  }

  @Test("a user who sends nothing leaves no file")
  func nothing() async throws {
    let folder = TestFolder()
    #expect(try await folder.record(Script("anna")).isEmpty)
    #expect(folder.names.isEmpty)
  }

  @Test("frames before the first keyframe are rejected and counted")
  func firstKeyframe() async throws {
    let folder = TestFolder()
    var script = Script()
    script.add(Array(try TestMedia.videoFrames(4).dropFirst(30)), codec: .vp8)
    let summary = try #require(try await folder.record(script).first)
    let video = try #require(summary.track(.video))
    #expect(video.refused == 30 && video.frames == 60 && video.keyframes == 1)
    #expect(video.decodeErrors == 0)
    #expect(try Reader(path: "\(folder.path)/anna.webm").complaints() == "")
  }

  @Test("damaged frames are counted as decode errors only when verification is on", arguments: [true, false])
  func decodeErrors(verifies: Bool) async throws {
    let folder = TestFolder()
    var pieces = try TestMedia.videoFrames(2)
    for index in [20, 25] { pieces[index].payload.moveWriterIndex(to: pieces[index].payload.readerIndex + 4) }
    var script = Script()
    script.add(pieces, codec: .vp8)
    let summary = try #require(try await folder.record(script, verifies: verifies).first)
    let errors = summary.track(.video)?.decodeErrors
    #expect(verifies ? (errors ?? 0) >= 2 : errors == nil)
    #expect(summary.track(.video)?.lastDecodedSize?.width == (verifies ? 160 : nil))
    #expect((summary.track(.video)?.firstDecoded != nil) == verifies)
  }

  @Test("a frame of 16383x16383 and an empty Opus packet are rejected, and recording continues")
  func absurdFrames() async throws {
    let folder = TestFolder()
    var videoFrames = try TestMedia.videoFrames(4)
    videoFrames[10].payload = .init(bytes: [0x10, 0x02, 0x00, 0x9D, 0x01, 0x2A, 0xFF, 0x3F, 0xFF, 0x3F, 0, 0, 0, 0])
    var tone = try TestMedia.tone(4)
    tone[10].payload.clear()
    var script = Script()
    script.add(videoFrames, codec: .vp8)
    script.add(tone, codec: .opus)
    let summary = try #require(try await folder.record(script).first)
    // From the rejected keyframe to the next one nothing can be decoded.
    #expect(summary.track(.video)?.refused == 50 && summary.track(.video)?.frames == 70)
    #expect(summary.track(.audio)?.refused == 1 && summary.track(.audio)?.frames == 199)
    #expect(summary.manifest.tracks.allSatisfy { $0.decodeErrors == 0 })
    #expect(try Reader(path: "\(folder.path)/anna.webm").complaints() == "")
    #expect(try Reader(path: "\(folder.path)/anna.ogg").complaints() == "")
  }

  @Test("a timestamp that jumps an hour does not make a file longer")
  func absurdTimestamps() async throws {
    let folder = TestFolder()
    var script = Script()
    // Each packet is a stream of its own, so that it arrives at its true time whatever its timestamp is.
    for (index, piece) in try TestMedia.tone(6).enumerated() {
      let shift: Int64 = (100..<200).contains(index) ? 3_600 * 48_000 : 0
      script.add(
        [.init(ticks: 0, payload: piece.payload)], codec: .opus, begin: Double(index) / 50, base: piece.ticks + shift)
    }
    let summary = try #require(try await folder.record(script).first)
    #expect(abs(summary.manifest.duration - 6) < 0.1)
    #expect(summary.track(.audio)?.timestampBreaks == 2)
    #expect(try folder.bytes("anna.ogg").count < 60_000)
  }

  @Test("a disk error stops one file and is reported; the other files continue")
  func diskError() async throws {
    let folder = TestFolder()
    let recorder = try folder.recorder()
    let scripts = [try short("anna", video: true), try short("bert")]
    for script in scripts {
      recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    }
    await folder.play(scripts, to: recorder)
    // The first frames are still held, so the audio's file does not exist yet.
    try FileManager.default.createDirectory(atPath: "\(folder.path)/anna.ogg", withIntermediateDirectories: true)
    let summaries = await recorder.finish(now: Script.beginning + .seconds(2))
    #expect(summaries.map { $0.manifest.files.map(\.name) } == [["anna.webm"], ["bert.ogg"]])
    #expect(summaries[0].manifest.problems == ["Cannot create “\(folder.path)/anna.ogg”: File exists (error 17)."])
    #expect(summaries[1].manifest.problems.isEmpty)
    var problems = recorder.problems.makeAsyncIterator()
    #expect(await problems.next()?.participant == ParticipantID("anna"))
    #expect(try Reader(path: "\(folder.path)/anna.webm").complaints() == "")
  }

  @Test("the status lists what is on the disk")
  func status() async throws {
    let folder = TestFolder()
    let recorder = try folder.recorder(alignmentDelay: .zero)
    let script = try short("anna", video: true)
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    await folder.play([script], to: recorder)
    await recorder.advance(now: Script.beginning + .seconds(2))
    let status = try #require(recorder.status().first)
    #expect(status.files == ["\(folder.path)/anna.webm", "\(folder.path)/anna.ogg"])
    #expect(status.frames == [.audio: 50, .video: 30])
    #expect(abs(status.duration.milliseconds - 1_000) <= 2)
    #expect(status.decodeErrors == 0 && status.bytes > 2_000)
    await recorder.finish(now: Script.beginning + .seconds(2))
    #expect(recorder.status().isEmpty)
  }

  @Test("a recorder that reads the clock itself writes within a second of real time")
  func realTime() async throws {
    let folder = TestFolder()
    var configuration = RoomRecorder.Configuration(folder: folder.path, room: "100")
    configuration.alignmentDelay = .zero
    let recorder = try RoomRecorder(configuration)
    let now = MonotonicInstant.now
    recorder.begin(ParticipantID("anna"), now: now, wallClock: TestFolder.wallClock)
    for piece in try TestMedia.tone(0.2) {
      let frame = EncodedFrame(
        owner: ParticipantID("anna"), codec: .opus, time: MediaTime(ticks: piece.ticks, rate: 48_000),
        payload: piece.payload, isKeyframe: true, arrival: now)
      recorder.receive(.frame(frame), of: ParticipantID("anna"), now: now)
    }
    var size = 0
    for _ in 0..<500 where size < 200 {
      try await Task.sleep(for: .milliseconds(20))
      size = (try? folder.bytes("anna.ogg").count) ?? 0
    }
    #expect(size >= 200)
    await recorder.finish(now: MonotonicInstant.now)
  }
}
