import Media
import NIOCore
import Recorder
import TestSupport
import Testing

/// Participants who send several streams: for example a camera with its microphone, and a screen with its sound.
@Suite("Several streams of a participant")
struct SeveralStreamsTests {
  private static let small = VideoSize(width: 64, height: 48)

  /// Adds a stream with video and audio, with sender reports half a second after its beginning.
  ///
  /// - Parameter size: the size of the video; nil for audio alone.
  private func add(
    _ stream: Int, from begin: Double = 0, seconds: Double, size: VideoSize? = small, to script: inout Script
  ) throws {
    script.add(try TestMedia.tone(seconds), codec: .opus, stream: stream, begin: begin)
    script.addReports(.opus, stream: stream, at: [begin + 0.5], begin: begin)
    guard let size else { return }
    script.add(
      try TestMedia.videoFrames(seconds, size: size, keyframeEvery: 30), codec: .vp8, stream: stream, begin: begin)
    script.addReports(.vp8, stream: stream, at: [begin + 0.6], begin: begin)
  }

  private func manifest(_ base: String, in folder: TestFolder) throws -> RecordingManifest {
    try RecordingManifest(parsing: folder.bytes("\(base).json"))
  }

  /// A recorder whose session read the wall clock at the beginning of every script.
  private func recorder(in folder: TestFolder) throws -> RoomRecorder {
    var configuration = RoomRecorder.Configuration(folder: folder.path, room: "100")
    configuration.usesSystemClock = false
    configuration.session = RecordingSession(
      clock: WallClock(moment: Script.beginning, secondsSince1970: TestFolder.wallClock))
    return try RoomRecorder(configuration)
  }

  @Test("each stream has its own files, with its frames alone, and a manifest that says which stream it is")
  func twoStreams() async throws {
    let folder = TestFolder()
    var script = Script()
    script.add(
      .described(MediaStream(owner: script.owner, number: 1, id: "camera-1", tracks: [.audio: "0", .video: "1"])), at: 0
    )
    script.add(
      .described(
        MediaStream(
          owner: script.owner, number: 2, id: "screen\u{202E}", content: "slides",
          tracks: [.video: "2", .audio: "ssrc:77"])),
      at: 0)
    try add(1, seconds: 2, to: &script)
    try add(2, seconds: 2, size: VideoSize(width: 96, height: 64), to: &script)
    // Later it is described again, without the screen's tracks.
    script.add(.described(MediaStream(owner: script.owner, number: 2)), at: 1.5)
    let summaries = try await folder.record(script)
    #expect(
      folder.names == ["anna.2.json", "anna.2.ogg", "anna.2.webm", "anna.json", "anna.ogg", "anna.webm"])
    #expect(summaries.map(\.base) == ["anna", "anna.2"] && summaries.map(\.stream) == [1, 2])
    #expect(summaries.map(\.participant) == [script.owner, script.owner])
    for (stream, base) in [(1, "anna"), (2, "anna.2")] {
      let blocks = BlockReader(try folder.bytes("\(base).webm"))
      for codec in [Codec.opus, .vp8] {
        expectSame(blocks.payloads(codec) == script.payloads(codec, stream: stream))
      }
      let manifest = try manifest(base, in: folder)
      #expect(manifest == summaries[stream - 1].manifest)
      #expect(
        manifest.user == "anna" && manifest.finished && manifest.files.map(\.name) == ["\(base).webm", "\(base).ogg"])
      #expect(manifest.tracks.map(\.decodeErrors) == [0, 0] && manifest.tracks.map(\.frames) == [100, 60])
      #expect(manifest.alignment.source == "senderReports" && manifest.alignment.reports == 2)
    }
    let (camera, screen) = (summaries[0].manifest, summaries[1].manifest)
    #expect(camera.stream == .init(number: 1, id: "camera-1"))
    #expect(screen.stream.number == 2 && screen.stream.content == "slides")
    #expect(screen.stream.id?.hasPrefix("screen") == true && screen.stream.id?.contains("\u{202E}") == false)
    #expect(camera.tracks.map(\.id) == ["0", "1"] && screen.tracks.map(\.id) == ["ssrc:77", "2"])
    #expect(screen.tracks.last?.sizes == [.init(time: 0, width: 96, height: 64)])
    #expect(camera.session?.id == screen.session?.id && camera.session?.offset == screen.session?.offset)
    for base in ["anna", "anna.2"] {
      #expect(try Reader(path: "\(folder.path)/\(base).webm").complaints("-enc_time_base", "-1") == "")
    }
  }

  @Test("a stream that begins in mid-call has its place on the time axis, also after the wall clock was set by 90 s")
  func midCall() async throws {
    let folder = TestFolder()
    let recorder = try recorder(in: folder)
    var (anna, ben) = (Script("anna"), Script("ben"))
    try add(1, seconds: 6, to: &anna)
    try add(2, from: 4, seconds: 2, to: &anna)
    try add(1, from: 2.5, seconds: 3.5, to: &ben)
    try add(2, from: 3, seconds: 3, to: &ben)
    recorder.begin(anna.owner, now: Script.beginning.instant)
    // Now the wall clock is set, and somebody reads it.
    let join = Script.beginning + .seconds(2.5)
    recorder.begin(ben.owner, now: join, wallClock: TestFolder.wallClock + 2.5 + 90)
    let last = await folder.play([anna, ben], to: recorder)
    await recorder.finish(now: last)
    let bases = ["anna", "anna.2", "ben", "ben.2"]
    let manifests = try bases.map { try manifest($0, in: folder) }
    let sessions = try manifests.map { try #require($0.session) }
    #expect(Set(sessions.map(\.id)) == [recorder.session.id])
    #expect(sessions.map(\.offset) == [0.01, 4.01, 2.51, 3.01])
    #expect(manifests[0].start == "2026-03-01T09:30:00.260Z" && manifests[1].start == "2026-03-01T09:30:04.260Z")
    #expect(manifests[2].start == "2026-03-01T09:31:32.760Z" && manifests[3].start == "2026-03-01T09:31:33.260Z")
    #expect(abs(manifests[1].duration - 2) < 0.1 && manifests[1].files.map(\.start) == [0, 0])
    let dates = try ["anna", "anna.2"].map {
      try MatroskaHeader.find(in: ByteBuffer(bytes: folder.bytes("\($0).webm")))?.header.date
    }
    let (first, second) = (try #require(dates[0]), try #require(dates[1]))
    #expect(abs(second - first - 4_000_000_000) < 1_000_000)
  }

  @Test("sender reports relate two streams, so that a slower encoder or a longer path moves neither")
  func slowEncoder() async throws {
    let folder = TestFolder()
    let recorder = try recorder(in: folder)
    var (camera, screen) = (Script(), Script())
    try add(1, seconds: 6, to: &camera)
    let frames = try TestMedia.videoFrames(3, size: Self.small, keyframeEvery: 30)
    screen.add(frames, codec: .vp8, stream: 2, begin: 2)
    screen.addReports(.vp8, stream: 2, at: [2.5, 3.5, 4.5], begin: 2)
    // Frames take 80 ms to encode; reports are sent at once.
    var script = camera
    for (at, event) in screen.inOrder {
      guard case .frame(var frame) = event else {
        script.add(event, at: (at - Script.beginning) / .seconds(1))
        continue
      }
      frame.arrived = frame.arrived + .milliseconds(80)
      script.add(.frame(frame), at: (at - Script.beginning) / .seconds(1) + 0.08)
    }
    recorder.begin(script.owner, now: Script.beginning.instant)
    let last = await folder.play([script], to: recorder)
    await recorder.finish(now: last)
    let sessions = try ["anna", "anna.2"].map { try #require(manifest($0, in: folder).session) }
    #expect(sessions.map(\.offset) == [0.01, 2.01])
  }

  @Test("a stream that pauses and returns with its number continues in its recording, with a gap for the reason")
  func pause() async throws {
    let folder = TestFolder()
    var script = Script()
    try add(1, seconds: 6, to: &script)
    let tone = try TestMedia.tone(1)
    script.add(tone, codec: .opus, stream: 2, begin: 1)
    var later = Script()
    later.add(tone, codec: .opus, stream: 2, begin: 4, base: 1_000_000 + 3 * 48_000)
    for (index, (at, event)) in later.inOrder.enumerated() {
      guard case .frame(var frame) = event else { continue }
      if index == 0 { frame.gap = MediaGap(.muted) }
      script.add(.frame(frame), at: (at - Script.beginning) / .seconds(1))
    }
    let summaries = try await folder.record(script)
    #expect(summaries.map(\.base) == ["anna", "anna.2"])
    let track = try #require(summaries[1].track(.audio))
    #expect(track.frames == 100 && track.gaps.map(\.reason) == ["muted"])
    #expect(abs((track.gaps.first?.duration ?? 0) - 2) < 0.01 && abs(track.duration - 4) < 0.01)
    #expect(summaries[0].manifest.tracks.allSatisfy { $0.gaps.isEmpty })
  }

  @Test("a further stream that ended and continues has a gap that says so; the first stream is on hold")
  func ended() async throws {
    let folder = TestFolder()
    var script = Script()
    let tone = try TestMedia.tone(1)
    for stream in [1, 2] {
      script.add(tone, codec: .opus, stream: stream, begin: 1)
      script.add(tone, codec: .opus, stream: stream, begin: 5, base: 1_000_000 + 4 * 48_000)
      script.add(.described(MediaStream(owner: script.owner, number: stream, tracks: [.audio: "0"])), at: 0.9)
      // Some packets arrive after this.
      script.add(.described(MediaStream(owner: script.owner, number: stream)), at: 1.7)
      script.add(.described(MediaStream(owner: script.owner, number: stream, tracks: [.audio: "0"])), at: 4.9)
    }
    let summaries = try await folder.record(script)
    let gaps = summaries.map { $0.track(.audio)?.gaps ?? [] }
    #expect(gaps.map { $0.map(\.reason) } == [["senderPaused"], ["streamEnded"]])
    #expect(gaps.allSatisfy { abs(($0.first?.duration ?? 0) - 3) < 0.02 })
    #expect(summaries.map { $0.track(.audio)?.frames } == [100, 100])
  }

  @Test("16 streams are recorded, whatever their numbers; one sentence says that there are more")
  func manyStreams() async throws {
    let folder = TestFolder()
    var script = Script()
    let tone = try TestMedia.tone(0.5)
    // 0 and -3 are the first stream, which has its place even if it comes last.
    let numbers = [7, 1_000_000, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 0]
    for (index, number) in numbers.enumerated() {
      script.add(tone, codec: .opus, stream: number, begin: Double(index) / 10, base: Int64(index) * 1_000_000)
    }
    script.add(tone, codec: .opus, stream: -3, begin: 2.2, base: 17_000_000 + 24_000)
    let recorder = try folder.recorder()
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    let last = await folder.play([script], to: recorder)
    #expect(recorder.status().count == 16)
    let summaries = await recorder.finish(now: last)
    let recorded = [1] + (2...15) + [1_000_000]
    #expect(summaries.map(\.stream) == recorded)
    #expect(summaries.map(\.base) == recorded.map { $0 == 1 ? "anna" : "anna.\($0)" })
    #expect(summaries.allSatisfy { $0.manifest.finished && $0.manifest.endReason == .stopped })
    #expect(folder.names.count == 32 && recorder.status().isEmpty)
    #expect(summaries[0].track(.audio)?.frames == 50)
    let sentence = "“anna” sends more than 16 streams; the further ones are not recorded."
    #expect(summaries[0].manifest.problems == [sentence])
    let problems = await recorder.allProblems()
    #expect(problems.map(\.sentence) == [sentence] && problems.map(\.kind) == [.notRecorded])
    #expect(problems.first?.stream == nil)
  }

  @Test("the end of a participant ends all their recordings, and a stream without media leaves no file")
  func end() async throws {
    let folder = TestFolder()
    var script = Script()
    try add(1, seconds: 1, to: &script)
    try add(2, seconds: 1, size: nil, to: &script)
    script.add(.described(MediaStream(owner: script.owner, number: 3, id: "empty")), at: 0.1)
    script.add(.statistics(TrackID(of: script.owner, stream: 4, kind: .audio), TrackStatistics()), at: 0.2)
    script.add(.recovering(TrackID(of: script.owner, stream: 5, kind: .video)), at: 0.3)
    let recorder = try folder.recorder()
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    let last = await folder.play([script], to: recorder)
    recorder.end(script.owner, reason: .connectionLost, now: last)
    // The same participant again.
    recorder.begin(script.owner, now: last, wallClock: TestFolder.wallClock)
    await recorder.finish(now: last)
    #expect(folder.names == ["anna.2.json", "anna.2.ogg", "anna.json", "anna.ogg", "anna.webm"])
    for base in ["anna", "anna.2"] {
      let manifest = try manifest(base, in: folder)
      #expect(manifest.finished && manifest.endReason == .connectionLost && manifest.files.allSatisfy(\.complete))
    }
  }

  @Test("a path is noted for all streams, also for later ones; a problem for those that there are")
  func pathsAndProblems() async throws {
    let folder = TestFolder()
    var script = Script()
    try add(1, seconds: 3, to: &script)
    try add(2, seconds: 3, to: &script)
    try add(3, from: 2, seconds: 1, to: &script)
    let recorder = try folder.recorder()
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    func path(_ type: String) -> RecordingManifest.NetworkPath {
      .init(localCandidateType: type, remoteCandidateType: "host", protocol: "udp", relayed: type == "relay")
    }
    recorder.setPath(path("host"), of: script.owner, now: (Script.beginning + .milliseconds(125)).instant)
    await folder.play([script], to: recorder, until: 1)
    recorder.setPath(path("relay"), of: script.owner, now: (Script.beginning + .seconds(1)).instant)
    recorder.addProblem("A section was refused.", of: script.owner, now: (Script.beginning + .seconds(1)).instant)
    let last = await folder.play([script], to: recorder, from: 1.000_001)
    let summaries = await recorder.finish(now: last)
    #expect(
      summaries.map { $0.manifest.paths?.map(\.localCandidateType) ?? [] } == [
        ["host", "relay"], ["host", "relay"], ["relay"],
      ])
    #expect(summaries[2].manifest.paths?.first?.since == "2026-03-01T09:30:01.250Z")
    #expect(summaries.map(\.manifest.problems.count) == [1, 1, 0])
  }

  @Test("the name of a further recording follows that of the first, and a user who has such a name keeps their files")
  func names() async throws {
    let folder = TestFolder()
    try folder.store(["bert.json": []])
    let tone = try TestMedia.tone(0.5)
    var scripts: [Script] = []
    for (owner, stream, begin) in [("anna.2", 2, 0.1), ("anna", 2, 0.1), ("1", 2, 0.1), ("2", 3, -0.001)] {
      var script = Script(owner)
      script.add(tone, codec: .opus)
      script.add(tone, codec: .opus, stream: stream, begin: begin)
      scripts.append(script)
    }
    let summaries = try await folder.record(
      scripts[0], scripts[1], scripts[2], scripts[3], names: [nil, nil, "anna", "bert"], alignmentDelay: .zero)
    let bases = Dictionary(grouping: summaries, by: \.manifest.user).mapValues { $0.map(\.base) }
    #expect(bases["anna.2"] == ["anna.2", "anna.2.2"])
    #expect(bases["anna"] == ["anna", "anna.2-2"])
    #expect(bases["1"] == ["anna-2", "anna-2.2"])
    // A stream that comes before the first has the name that this one gets.
    #expect(bases["2"] == ["bert-2", "bert-2.3"])
  }

  @Test("segments of a further stream have its name, and a keyframe is requested of its track")
  func segments() async throws {
    let folder = TestFolder()
    var script = Script()
    try add(1, seconds: 4, size: nil, to: &script)
    script.add(
      try TestMedia.videoFrames(4, size: Self.small, keyframeEvery: 75), codec: .vp8, stream: 2)
    let recorder = try folder.recorder(alignmentDelay: .zero, segment: SegmentLimit(duration: .seconds(2)))
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    let last = await folder.play([script], to: recorder)
    await recorder.finish(now: last)
    #expect(
      folder.names == [
        "anna.0001.ogg", "anna.0002.ogg", "anna.2.0001.webm", "anna.2.0002.webm", "anna.2.json", "anna.json",
      ])
    #expect(try manifest("anna.2", in: folder).files.map(\.segment) == [1, 2])
    var requests: Set<TrackID> = []
    for await track in recorder.keyframeRequests { requests.insert(track) }
    #expect(requests == [TrackID(of: script.owner, stream: 2, kind: .video)])
  }
}
