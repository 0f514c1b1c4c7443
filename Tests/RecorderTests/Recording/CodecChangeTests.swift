import Foundation
import Media
import NIOCore
import Recorder
import TestSupport
import Testing

@Suite("Codecs that change in a call")
struct CodecChangeTests {
  private static let size = VideoSize(width: 64, height: 48)

  private func payloads(_ number: UInt8, of names: [String], in folder: TestFolder) throws -> [[UInt8]] {
    try names.flatMap { name in
      BlockReader(try folder.bytes(name)).blocks.filter { $0.track == number }.map(\.payload)
    }
  }

  private func expectReadable(_ folder: TestFolder) throws {
    for name in folder.names where !name.hasSuffix("json") {
      #expect(try Reader(path: "\(folder.path)/\(name)").complaints("-enc_time_base", "-1") == "", "\(name)")
    }
  }

  @Test(
    "when video changes its codec, the next files begin with its keyframe, named by their own ending; nothing is lost")
  func video() async throws {
    let folder = TestFolder()
    var script = Script("anna")
    script.add(try TestMedia.tone(6), codec: .opus)
    script.add(try TestMedia.videoFrames(3, size: Self.size), codec: .vp8)
    script.add(try TestMedia.h264(3), codec: .h264, begin: 3, base: 1_000_000 + 270_000)
    script.addReports(.opus, at: [0.5])
    script.addReports(.vp8, at: [0.6])
    let manifest = try #require(try await folder.record(script).first).manifest
    #expect(manifest.files.map(\.name) == ["anna.webm", "anna.ogg", "anna.0002.mkv", "anna.0002.ogg"])
    #expect(manifest.files.map(\.segment) == [nil, nil, 2, 2] && manifest.files.allSatisfy(\.complete))
    #expect(manifest.files.map(\.codecs) == [["vp8", "opus"], ["opus"], ["h264", "opus"], ["opus"]])
    #expect(folder.names.count == 5 && manifest.problems.isEmpty && manifest.finished)
    #expect(abs(manifest.files[2].start - 3) < 0.02 && abs(manifest.duration - 6) < 0.06)
    let track = try #require(manifest.tracks.first { $0.kind == "video" })
    #expect(track.codec == "vp8" && track.frames == 180 && track.refused == 0 && track.gaps.isEmpty)
    let changes = try #require(track.codecs)
    #expect(changes.map(\.codec) == ["vp8", "h264"] && changes.first?.profile == "vp8" && changes.first?.time == 0)
    #expect(changes.last?.profile?.hasPrefix("avc1.42") == true && abs((changes.last?.time ?? 0) - 3) < 0.02)
    #expect(try RecordingManifest(parsing: folder.bytes("anna.json")) == manifest)

    let both = ["anna.webm", "anna.0002.mkv"]
    let video = try payloads(MatroskaHeader.videoNumber, of: both, in: folder)
    expectSame(video == script.payloads(.vp8) + script.payloads(.h264))
    expectSame(try payloads(MatroskaHeader.audioNumber, of: both, in: folder) == script.payloads(.opus))
    let packets = try ["anna.ogg", "anna.0002.ogg"].reduce(0) { try $0 + OggCount(folder.bytes($1)).packets }
    #expect(packets == 300)
    try expectReadable(folder)
  }

  @Test("a second change within 5 s is refused and reported once, and a keyframe is requested when that time is over")
  func often() async throws {
    let folder = TestFolder()
    var script = Script("anna")
    script.add(try TestMedia.videoFrames(2, size: Self.size), codec: .vp8)
    script.add(try TestMedia.h264(2), codec: .h264, begin: 2, base: 1_000_000 + 180_000)
    let rest = try TestMedia.videoFrames(6, size: Self.size, keyframeEvery: 120)
    script.add(rest, codec: .vp8, begin: 4, base: 1_000_000 + 360_000)
    let recorder = try folder.recorder()
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    let last = await folder.play([script], to: recorder)
    let manifest = try #require(await recorder.finish(now: last).first).manifest
    #expect(manifest.files.map(\.name) == ["anna.webm", "anna.0002.mkv", "anna.0003.webm"])
    let track = try #require(manifest.tracks.first)
    // From 4 s to the keyframe at 8 s.
    #expect(track.refused == 120 && track.frames == 60 + 60 + 60)
    #expect(track.codecs?.map(\.codec) == ["vp8", "h264", "vp8"])
    let gap = try #require(track.gaps.first)
    #expect(track.gaps.count == 1 && gap.reason == "waitingForKeyframe" && gap.frames == 120)
    #expect(abs(gap.start - 4) < 0.05 && abs(gap.duration - 4) < 0.05)
    let sentence =
      "The video of “anna” changed its codec to H.264, and less than 5 s later to VP8, which is recorded only after that time."
    #expect(manifest.problems == [sentence])
    #expect(await recorder.allProblems().map(\.sentence) == [sentence])
    // At 7 s and 7.5 s.
    let requests = await recorder.allKeyframeRequests()
    #expect((2...3).contains(requests), "\(requests)")
    try expectReadable(folder)
  }

  @Test("when audio changes its codec, video continues in its file up to the next keyframe, which is requested")
  func audioWithVideo() async throws {
    let folder = TestFolder()
    var script = Script("anna")
    script.add(try TestMedia.tone(3), codec: .opus)
    script.add(try TestMedia.octets(3, codec: .pcmu), codec: .pcmu, begin: 3, base: 77_000)
    script.add(try TestMedia.videoFrames(6, size: Self.size, keyframeEvery: 80), codec: .vp8)
    script.addReports(.opus, at: [0.5])
    script.addReports(.vp8, at: [0.6])
    let recorder = try folder.recorder()
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    let last = await folder.play([script], to: recorder)
    let manifest = try #require(await recorder.finish(now: last).first).manifest
    #expect(manifest.files.map(\.name) == ["anna.webm", "anna.ogg", "anna.0002.mkv", "anna.0002.mka"])
    #expect(manifest.files.map(\.codecs) == [["vp8", "opus"], ["opus"], ["vp8", "pcmu"], ["pcmu"]])
    #expect(abs(manifest.files[2].start - 3) < 0.03 && abs(manifest.files[3].start - 3) < 0.03)
    let audio = try #require(manifest.tracks.first { $0.kind == "audio" })
    #expect(audio.frames == 300 && audio.codecs?.map(\.codec) == ["opus", "pcmu"] && audio.gaps.isEmpty)
    #expect(audio.concealed == 0 && audio.timestampBreaks == 0 && abs(audio.end - 6) < 0.03)
    let both = ["anna.webm", "anna.0002.mkv"]
    expectSame(try payloads(MatroskaHeader.videoNumber, of: both, in: folder) == script.payloads(.vp8))
    let sent = script.payloads(.opus) + script.payloads(.pcmu)
    expectSame(try payloads(MatroskaHeader.audioNumber, of: both, in: folder) == sent)
    // The first keyframe after the change is that of 5.33 s.
    let first = try payloads(MatroskaHeader.videoNumber, of: ["anna.webm"], in: folder)
    #expect(first.count == 160)
    let requests = await recorder.allKeyframeRequests()
    #expect(requests >= 4, "\(requests)")
    try expectReadable(folder)
  }

  @Test("audio alone continues in a file of the kind that its codec needs")
  func audioAlone() async throws {
    let folder = TestFolder()
    var script = Script("anna")
    script.add(try TestMedia.tone(3), codec: .opus)
    script.add(try TestMedia.octets(3, codec: .g722), codec: .g722, begin: 3, base: 5)
    let manifest = try #require(try await folder.record(script).first).manifest
    #expect(manifest.files.map(\.name) == ["anna.ogg", "anna.0002.mka"])
    #expect(abs(manifest.duration - 6) < 0.03)
    try expectReadable(folder)
  }

  @Test("when both tracks change at once, one new pair of files has both codecs")
  func atOnce() async throws {
    let folder = TestFolder()
    var script = Script("anna")
    script.add(try TestMedia.tone(3), codec: .opus)
    script.add(try TestMedia.octets(3, codec: .pcma), codec: .pcma, begin: 3, base: 77_000)
    script.add(try TestMedia.videoFrames(3.2, size: Self.size), codec: .vp8)
    script.add(try TestMedia.h264(2.8), codec: .h264, begin: 3.2, base: 1_000_000 + 288_000)
    script.addReports(.opus, at: [0.5])
    script.addReports(.vp8, at: [0.6])
    let manifest = try #require(try await folder.record(script).first).manifest
    #expect(manifest.files.map(\.name) == ["anna.webm", "anna.ogg", "anna.0002.mkv", "anna.0002.mka"])
    #expect(manifest.files[2].codecs == ["h264", "pcma"])
    let both = ["anna.webm", "anna.0002.mkv"]
    let video = try payloads(MatroskaHeader.videoNumber, of: both, in: folder)
    expectSame(video == script.payloads(.vp8) + script.payloads(.h264))
    try expectReadable(folder)
  }

  @Test("audio that a WebM cannot have, and that begins later, begins a Matroska file")
  func lateAudio() async throws {
    let folder = TestFolder()
    var script = Script("anna")
    script.add(try TestMedia.videoFrames(8, size: Self.size), codec: .vp8)
    script.add(try TestMedia.octets(3, codec: .pcmu), codec: .pcmu, begin: 5, base: 0)
    let manifest = try #require(try await folder.record(script).first).manifest
    #expect(manifest.files.map(\.name) == ["anna.webm", "anna.0002.mkv", "anna.0002.mka"])
    let both = ["anna.webm", "anna.0002.mkv"]
    expectSame(try payloads(MatroskaHeader.videoNumber, of: both, in: folder) == script.payloads(.vp8))
    expectSame(try payloads(MatroskaHeader.audioNumber, of: both, in: folder) == script.payloads(.pcmu))
    try expectReadable(folder)
  }

  @Test(
    "video that begins long after the audio begins a file of the kind that both need, and the audio goes on in its own",
    arguments: [(Codec.vp8, "anna.webm"), (.h264, "anna.mkv")])
  func lateVideo(codec: Codec, name: String) async throws {
    let folder = TestFolder()
    var script = Script("anna")
    script.add(try TestMedia.tone(9), codec: .opus)
    let video = codec == .h264 ? try TestMedia.h264(3) : try TestMedia.videoFrames(3, size: Self.size)
    script.add(video, codec: codec, begin: 6)
    let manifest = try #require(try await folder.record(script).first).manifest
    #expect(Set(manifest.files.map(\.name)) == [name, "anna.ogg"] && manifest.problems.isEmpty)
    let file = try #require(manifest.files.first { $0.name == name })
    #expect(abs(file.start - 6) < 0.05 && file.codecs == [codec.rawValue, "opus"] && file.segment == nil)
    let stored = try payloads(MatroskaHeader.videoNumber, of: [name], in: folder)
    expectSame(stored == script.payloads(codec))
    let packets = try OggCount(folder.bytes("anna.ogg")).packets
    #expect(packets == 450)
    try expectReadable(folder)
  }

  @Test("the next files leave out a number that files of others have, whatever their kind")
  func takenNumber() async throws {
    let folder = TestFolder()
    try folder.store(["anna.0002.json": [], "anna.0003.ogg": [1]])
    var script = Script("anna")
    script.add(try TestMedia.videoFrames(2, size: Self.size), codec: .vp8)
    script.add(try TestMedia.h264(2), codec: .h264, begin: 2, base: 1_000_000 + 180_000)
    let manifest = try #require(try await folder.record(script).first).manifest
    #expect(manifest.files.map(\.name) == ["anna.webm", "anna.0004.mkv"])
    #expect(manifest.files.map(\.segment) == [nil, 4] && manifest.problems.isEmpty)
    #expect(manifest.tracks.first?.frames == 120)
    #expect(try folder.bytes("anna.0003.ogg") == [1])
  }

  @Test("a codec that changes while the disk is full is recorded in the next files when there is space again")
  func fullDisk() async throws {
    var script = Script("anna")
    script.add(try TestMedia.tone(6), codec: .opus)
    script.add(try TestMedia.videoFrames(3, size: Self.size), codec: .vp8)
    script.add(try TestMedia.h264(3), codec: .h264, begin: 3, base: 1_000_000 + 270_000)
    script.addReports(.opus, at: [0.5])
    script.addReports(.vp8, at: [0.6])
    let call = FaultyCall(script: script, disk: ScriptedDisk(), folder: TestFolder())
    let (manifest, _) = try await call.record(
      from: 2, until: 4.5, change: { $0.fill(leaving: 100) }, back: { $0.capacity = .max })
    #expect(manifest.files.map(\.name) == ["anna.webm", "anna.ogg", "anna.0002.mkv", "anna.0002.ogg"])
    #expect(manifest.files.allSatisfy(\.complete) && manifest.disk?.stalls == 1)
    let track = try #require(manifest.tracks.first { $0.kind == "video" })
    #expect(track.frames == 180 && track.codecs?.map(\.codec) == ["vp8", "h264"])
    try call.expectReadable(call.disk.files)
    let both = ["anna.webm", "anna.0002.mkv"]
    let video = try payloads(MatroskaHeader.videoNumber, of: both, in: call.folder)
    expectSame(video == script.payloads(.vp8) + script.payloads(.h264))
    expectSame(try payloads(MatroskaHeader.audioNumber, of: both, in: call.folder) == script.payloads(.opus))
  }

  @Test("a codec that changes on a disk that stays full leaves closed files, and a manifest that says what is missing")
  func fullDiskUntilEnd() async throws {
    let (disk, folder) = (ScriptedDisk(), TestFolder())
    var script = Script("anna")
    script.add(try TestMedia.videoFrames(5, size: Self.size), codec: .vp8)
    script.add(try TestMedia.h264(3), codec: .h264, begin: 5, base: 1_000_000 + 450_000)
    let recorder = try folder.recorder(disk: disk)
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    await folder.play([script], to: recorder, until: 4.5)
    disk.fill(leaving: 100)
    disk.sparesManifests = true
    await folder.play([script], to: recorder, from: 4.5)
    let end = Script.beginning + .seconds(8)
    let manifest = try #require(try await finishWithBlockedDisk(recorder, at: end).first).manifest
    #expect(manifest.files.map(\.name) == ["anna.webm"])
    #expect(manifest.finished && manifest.files.allSatisfy(\.complete))
    let track = try #require(manifest.tracks.first)
    let gap = try #require(track.gaps.last)
    #expect(gap.reason == "diskStalled" && gap.frames == 240 - Int(track.frames) && track.frames > 100)
    #expect(track.codecs?.map(\.codec) == ["vp8"])
    try folder.store(disk.files)
    try expectReadable(folder)
  }

  @Test("H.264 before the first keyframe with its parameter sets is refused, and the file begins with that keyframe")
  func lateParameterSets() async throws {
    let folder = TestFolder()
    var pieces = try TestMedia.h264(3)
    // The first keyframe without SPS and PPS.
    var rest = pieces[0].payload
    var stripped = ByteBuffer()
    while let length = rest.readInteger(as: UInt32.self), var unit = rest.readSlice(length: Int(length)) {
      if [7, 8].contains((unit.getInteger(at: unit.readerIndex, as: UInt8.self) ?? 0) & 0x1F) { continue }
      stripped.writeInteger(length)
      stripped.writeBuffer(&unit)
    }
    #expect(stripped.readableBytes < pieces[0].payload.readableBytes)
    pieces[0].payload = stripped
    var script = Script("anna")
    script.add(pieces, codec: .h264)
    let manifest = try #require(try await folder.record(script).first).manifest
    #expect(manifest.files.map(\.name) == ["anna.mkv"])
    #expect(manifest.tracks.first?.frames == 60 && manifest.tracks.first?.refused == 30)
    try expectReadable(folder)
  }

  @Test("with a segment limit, each segment has the kind that the codecs of its time need")
  func segments() async throws {
    let folder = TestFolder()
    var script = Script("anna")
    script.add(try TestMedia.tone(8), codec: .opus)
    script.add(try TestMedia.videoFrames(4.5, size: Self.size, keyframeEvery: 30), codec: .vp8)
    script.add(try TestMedia.h264(3.5), codec: .h264, begin: 4.5, base: 1_000_000 + 405_000)
    script.addReports(.opus, at: [0.5])
    script.addReports(.vp8, at: [0.6])
    let manifest = try #require(
      try await folder.record(script, segment: SegmentLimit(duration: .seconds(3))).first
    ).manifest
    let videos = manifest.files.filter(\.hasVideo)
    #expect(videos.map(\.name) == ["anna.0001.webm", "anna.0002.webm", "anna.0003.mkv", "anna.0004.mkv"])
    #expect(videos.map(\.segment) == [1, 2, 3, 4])
    let video = try payloads(MatroskaHeader.videoNumber, of: videos.map(\.name), in: folder)
    expectSame(video == script.payloads(.vp8) + script.payloads(.h264))
    try expectReadable(folder)
  }
}
