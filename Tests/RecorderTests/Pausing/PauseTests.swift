import Codecs
import Foundation
import Media
import NIOCore
import Recorder
import TestSupport
import Testing

/// Calls of a few seconds whose frames arrive 10 ms after they are captured.
@Suite("Pauses of a recording")
struct PauseTests {
  static let owner = ParticipantID("anna")

  /// Plays a call, and pauses and resumes it.
  private func record(
    _ script: Script, in folder: TestFolder, pauses: [(start: Double, end: Double?)], segment: SegmentLimit? = nil,
    paused: PausedUsers = .nobody
  ) async throws -> (manifest: RecordingManifest, requests: Int) {
    let recorder = try folder.recorder(segment: segment, paused: paused)
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    var time = 0.0
    for pause in pauses {
      await folder.play([script], to: recorder, from: time, until: pause.start)
      recorder.pause(at: Script.beginning + .seconds(pause.start))
      time = pause.start
      guard let end = pause.end else { break }
      await folder.play([script], to: recorder, from: time, until: end)
      recorder.resume(at: Script.beginning + .seconds(end))
      time = end
    }
    let last = await folder.play([script], to: recorder, from: time)
    recorder.end(script.owner, reason: .left, now: last)
    await recorder.finish(now: last)
    var summaries: [RecordingSummary] = []
    for await summary in recorder.summaries { summaries.append(summary) }
    return (try #require(summaries.first).manifest, await recorder.allKeyframeRequests())
  }

  /// The payloads of frames that were captured in some intervals.
  private func payloads(_ script: Script, _ codec: Codec, captured intervals: Range<Double>...) -> [[UInt8]] {
    script.inOrder.compactMap { entry in
      guard case .frame(let frame) = entry.event, frame.codec == codec else { return nil }
      let captured = (frame.arrived - Script.beginning) / .seconds(1) - 0.01
      return intervals.contains { $0.contains(captured) } ? Array(frame.payload.readableBytesView) : nil
    }
  }

  private func expectReadable(_ folder: TestFolder) throws {
    for name in folder.names where !name.hasSuffix("json") {
      #expect(try Reader(path: "\(folder.path)/\(name)").complaints("-enc_time_base", "-1") == "", "\(name)")
    }
  }

  @Test("a pause is one gap of its reason in one file, and the packet of audio after it is not written")
  func simple() async throws {
    let folder = TestFolder()
    let script = try SmallCall.script(8)
    let (manifest, requests) = try await record(script, in: folder, pauses: [(3.005, 5.005)])
    #expect(folder.names == ["anna.json", "anna.ogg", "anna.webm"])
    let webm = BlockReader(try folder.bytes("anna.webm"))
    // The keyframe at 5 s, and the packet after the one at 5 s.
    expectSame(webm.payloads(.vp8) == payloads(script, .vp8, captured: 0..<2.99, 4.999..<9))
    expectSame(webm.payloads(.opus) == payloads(script, .opus, captured: 0..<2.99, 5.019..<9))
    let audio = try #require(manifest.tracks.first { $0.kind == "audio" })
    #expect(audio.gaps == [.init(reason: "paused", start: 3, duration: 2.02, packets: 0, frames: 0)])
    #expect(audio.gapTotals == ["paused": .init(count: 1, duration: 2.02, packets: 0, frames: 0)])
    let video = try #require(manifest.tracks.first { $0.kind == "video" })
    #expect(video.gaps == [.init(reason: "paused", start: 3, duration: 2, packets: 0, frames: 0)])
    #expect(video.refused == 0 && video.decodeErrors == 0 && audio.decodeErrors == 0)
    #expect(requests == 1 && abs(manifest.duration - 8) < 0.04)
    try expectReadable(folder)
    // A player stays in real time.
    let samples = try Reader(path: "\(folder.path)/anna.ogg").samples()
    #expect(abs(Double(samples.count) / 48_000 - 8) < 0.03)
  }

  @Test("video waits for a keyframe after a pause, which is requested until it comes")
  func keyframe() async throws {
    let folder = TestFolder()
    let script = try SmallCall.script(8, keyframeEvery: 60)
    let (manifest, requests) = try await record(script, in: folder, pauses: [(3.005, 5.005)])
    let webm = BlockReader(try folder.bytes("anna.webm"))
    expectSame(webm.payloads(.vp8) == payloads(script, .vp8, captured: 0..<2.99, 5.999..<9))
    let video = try #require(manifest.tracks.first { $0.kind == "video" })
    #expect(
      video.gaps == [
        .init(reason: "paused", start: 3, duration: 1.995, packets: 0, frames: 0),
        .init(reason: "waitingForKeyframe", start: 4.995, duration: 1.005, packets: 0, frames: 30),
      ])
    // At 5.005 s and about 5.5 s.
    #expect(requests == 2 && video.refused == 30 && video.decodeErrors == 0)
  }

  @Test("the first packet after a pause has a copy of the pause, and is in no file; nothing lost in it is rebuilt")
  func copies() async throws {
    let folder = TestFolder()
    var script = Script()
    let encoder = try OpusEncoder(Self.settings)
    var phase = 0.0
    let pieces = try (0..<400).map { index -> TestMedia.Piece in
      // The tone of the pause lasts to the last packet of it.
      let frequency = (150..<250).contains(index) ? PausedCall.forbidden : PausedCall.allowed
      let samples = (0..<960).map { _ -> Float in
        phase += 2 * .pi * frequency / 48_000
        return Float(0.4 * sin(phase))
      }
      let payload = try encoder.encode(AudioSamples(samples: samples, channels: 1))
      return TestMedia.Piece(ticks: Int64(index) * 960, payload: payload)
    }
    script.add(pieces, codec: .opus)
    let all = script
    script = Script()
    // Lost: the last packet before the pause, the first and the last one of it, and the second one after it.
    let lost: Set<Int64> = [149, 150, 249, 252]
    for (at, event) in all.inOrder {
      guard case .frame(var frame) = event else { continue }
      let number = (frame.time.ticks - 1_000_000) / 960
      if lost.contains(number) { continue }
      let before = (1...2).prefix { lost.contains(number - $0) }.count
      if before > 0 { frame.gap = MediaGap(.lost, packetsLost: before) }
      script.add(.frame(frame), at: (at - Script.beginning) / .seconds(1))
    }
    let (manifest, _) = try await record(script, in: folder, pauses: [(3.005, 5.005)])
    let audio = try #require(manifest.tracks.first)
    // The packet 252 is rebuilt: it was sent after the pause.
    #expect((audio.repairedByFEC ?? 0) + (audio.concealed ?? 0) == 1)
    #expect(audio.gaps.map(\.reason) == ["paused", "lost"])
    #expect(audio.gaps.map(\.packets) == [3, 1])
    var sent = try ToneSearch()
    for piece in pieces { try sent.add(piece.payload) }
    // Also the packet 250 has the tone, in its copy.
    #expect(sent.found.contains(249) && sent.foundInCopy.contains(250) && !sent.foundInCopy.contains(252))
    var search = try ToneSearch()
    for packet in OggPackets(try folder.bytes("anna.ogg")).payloads { try search.add(packet) }
    #expect(search.found == [] && search.foundInCopy == [])
  }

  @Test("packets whose padding can contain the last second are in no file for that long after a pause")
  func extensions() async throws {
    let folder = TestFolder()
    var script = Script()
    let pieces = try TestMedia.tone(9).map { piece -> TestMedia.Piece in
      // The packet again, with its one frame, a count and padding (RFC 6716, 3.2.5), which is an extension.
      var bytes = Array(piece.payload.readableBytesView)
      bytes[0] |= 3
      return TestMedia.Piece(
        ticks: piece.ticks, payload: ByteBuffer(bytes: [bytes[0], 0x41, 3] + bytes.dropFirst() + [0xFD, 1, 2]))
    }
    script.add(pieces, codec: .opus)
    let manifest = try await record(script, in: folder, pauses: [(3.005, 5.005)]).manifest
    let audio = try #require(manifest.tracks.first)
    #expect(audio.decodeErrors == 0 && audio.gaps.map(\.reason) == ["paused"])
    #expect(abs((audio.gaps.first?.duration ?? 0) - 3.1) < 0.03)
    let written = OggPackets(try folder.bytes("anna.ogg")).payloads.filter { $0.readableBytes > 2 }
    #expect(written.count == 150 + 450 - 305)
  }

  private static var settings: OpusEncoder.Settings {
    var settings = OpusEncoder.Settings()
    settings.channels = 1
    settings.bitrate = 32_000
    settings.isForSpeech = true
    settings.correctsErrors = true
    settings.expectedLoss = 20
    return settings
  }

  /// Delays a frame, as a retransmission does: those after it are delivered with it.
  private func delaying(_ script: Script, _ codec: Codec, captured: Double, by delay: Double) -> Script {
    var result = Script(script.owner.text)
    var until: Double?
    for (at, event) in script.inOrder {
      let time = (at - Script.beginning) / .seconds(1)
      guard case .frame(var frame) = event, frame.codec == codec else {
        result.add(event, at: time)
        continue
      }
      if until == nil, time - 0.01 >= captured - 0.001 {
        frame.arrived += .seconds(delay)
        until = time + delay
        result.add(.recovering(frame.track), at: time + 0.05)
      }
      result.add(.frame(frame), at: max(time, until ?? time))
    }
    return result
  }

  @Test("a frame that arrives late belongs to the moment when it was sent")
  func late() async throws {
    let folder = TestFolder()
    var script = try SmallCall.script(8)
    // One frame of before the pause arrives in it, and one of the pause after it.
    script = delaying(script, .vp8, captured: 2.8, by: 1)
    let manifest = try await record(script, in: folder, pauses: [(3.005, 5.005)]).manifest
    let reference = try SmallCall.script(8)
    expectSame(
      BlockReader(try folder.bytes("anna.webm")).payloads(.vp8)
        == payloads(reference, .vp8, captured: 0..<2.99, 4.999..<9))
    #expect(manifest.tracks.last?.gaps.filter { $0.reason == "paused" }.map(\.start) == [3])

    let second = TestFolder()
    script = delaying(reference, .vp8, captured: 4.6, by: 1.5)
    let later = try await record(script, in: second, pauses: [(3.005, 5.005)]).manifest
    // The frames of the pause come at 6.1 s.
    expectSame(
      BlockReader(try second.bytes("anna.webm")).payloads(.vp8)
        == payloads(reference, .vp8, captured: 0..<2.99, 4.999..<9))
    #expect(
      later.tracks.last?.gaps.contains { $0.reason == "paused" && abs($0.start + $0.duration - 5) < 0.01 } == true)
  }

  @Test("a clock that stood still does not bring frames of a pause into the time before it")
  func standstill() async throws {
    let folder = TestFolder()
    var script = Script()
    // Both tracks are muted from 2 s to 3.1 s, and their clocks stand still.
    for (codec, pieces) in [(Codec.opus, try TestMedia.tone(8)), (.vp8, try SmallCall.frames(8))] {
      let rate = Int64(codec.clockRate)
      let first = pieces.filter { $0.ticks < 2 * rate }
      let second = pieces.filter { $0.ticks >= 2 * rate }
      script.add(first, codec: codec)
      script.add(second, codec: codec, delay: { _ in 1.11 })
      script.addReports(codec, at: [0.5])
    }
    _ = try await record(script, in: folder, pauses: [(3.005, 5.005)])
    let reader = BlockReader(try folder.bytes("anna.webm"))
    for codec in [Codec.opus, .vp8] {
      let written = reader.payloads(codec)
      let paused = Set(payloads(script, codec, captured: 3.01..<4.98))
      #expect(!paused.isEmpty && written.allSatisfy { !paused.contains($0) }, "\(codec)")
    }
  }

  @Test("a user who must consent first is recorded from then on, and the recording begins with the first frame")
  func consent() async throws {
    let folder = TestFolder()
    let script = try SmallCall.script(8)
    let recorder = try folder.recorder(paused: .everybody)
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    await folder.play([script], to: recorder, until: 4.005)
    #expect(folder.names == [] && recorder.isPaused(script.owner))
    #expect(recorder.status().first?.isPaused == true)
    recorder.resume(at: Script.beginning + .seconds(4.005))
    let last = await folder.play([script], to: recorder, from: 4.005)
    let manifest = try #require(await recorder.finish(now: last).first).manifest
    let webm = BlockReader(try folder.bytes("anna.webm"))
    expectSame(webm.payloads(.vp8) == payloads(script, .vp8, captured: 3.999..<9))
    expectSame(webm.payloads(.opus) == payloads(script, .opus, captured: 4.019..<9))
    #expect(manifest.tracks.flatMap(\.gaps) == [])
    #expect(abs(manifest.duration - 4) < 0.04 && abs((manifest.session?.offset ?? 0) - 4.01) < 0.02)
    #expect(manifest.alignment.source == "senderReports")
    let times = webm.blocks.map(\.time)
    #expect(times.min() == 0 && abs((times.max() ?? 0) - 3_970) < 40)
  }

  @Test("nobody who stays paused leaves a file")
  func never() async throws {
    let folder = TestFolder()
    let script = try SmallCall.script(3)
    let recorder = try folder.recorder(paused: .everybody)
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    let last = await folder.play([script], to: recorder)
    #expect(await recorder.finish(now: last).isEmpty && folder.names == [])
  }

  @Test("a recording that ends paused ends with a gap, and its audio with the last packet")
  func endsPaused() async throws {
    let folder = TestFolder()
    let script = try SmallCall.script(8)
    let manifest = try await record(script, in: folder, pauses: [(3.005, nil)]).manifest
    for track in manifest.tracks {
      #expect(track.gaps.map(\.reason) == ["paused"])
      let gap = try #require(track.gaps.first)
      #expect(gap.start == 3 && abs(gap.start + gap.duration - 8) < 0.05)
      #expect(track.start + track.duration == 3)
    }
    #expect(manifest.files.allSatisfy { abs($0.duration - 3) < 0.02 && $0.complete })
    #expect(manifest.duration == 3)
  }

  @Test("a pause lasts through a change of the codec and the end of a segment")
  func filesChange() async throws {
    let folder = TestFolder()
    var script = Script()
    script.add(try TestMedia.tone(10), codec: .opus)
    script.add(try SmallCall.frames(4), codec: .vp8)
    script.add(
      try TestMedia.h264(6, size: VideoSize(width: 64, height: 48)), codec: .h264, begin: 4,
      base: 1_000_000 + 4 * 90_000)
    script.addReports(.opus, at: [0.5])
    script.addReports(.vp8, at: [0.6])
    let (manifest, _) = try await record(script, in: folder, pauses: [(3.005, 5.005)])
    #expect(manifest.files.map(\.name) == ["anna.webm", "anna.ogg", "anna.0002.mkv", "anna.0002.ogg"])
    let video = try #require(manifest.tracks.first { $0.kind == "video" })
    #expect(video.codecs?.map(\.codec) == ["vp8", "h264"])
    #expect(video.gaps.map(\.reason) == ["paused"] && video.refused == 0)
    expectSame(
      BlockReader(try folder.bytes("anna.webm")).payloads(.vp8) == payloads(script, .vp8, captured: 0..<2.99))
    let mkv = BlockReader(try folder.bytes("anna.0002.mkv"))
    expectSame(
      mkv.blocks.filter { $0.track == MatroskaHeader.videoNumber }.map(\.payload)
        == payloads(script, .h264, captured: 4.999..<11))
    try expectReadable(folder)

    let second = TestFolder()
    let plain = try SmallCall.script(12)
    let segments = try await record(
      plain, in: second, pauses: [(3.005, 5.005)], segment: SegmentLimit(duration: .seconds(4))
    ).manifest
    let files = segments.files.filter { $0.kind == "webm" }
    #expect(files.count >= 3 && segments.files.allSatisfy(\.complete))
    let blocks = try files.map { BlockReader(try second.bytes($0.name)) }
    expectSame(blocks.flatMap { $0.payloads(.vp8) } == payloads(plain, .vp8, captured: 0..<2.99, 4.999..<13))
    expectSame(blocks.flatMap { $0.payloads(.opus) } == payloads(plain, .opus, captured: 0..<2.99, 5.019..<13))
    #expect(segments.tracks.allSatisfy { $0.gaps.map(\.reason) == ["paused"] })
    try expectReadable(second)
  }

  @Test("what is decoded to verify it, and the sizes and codecs of the manifest, are not those of a pause")
  func verification() async throws {
    let folder = TestFolder()
    var script = Script()
    let large = VideoSize(width: 128, height: 96)
    script.add(try TestMedia.tone(8), codec: .opus)
    script.add(try SmallCall.frames(3), codec: .vp8)
    script.add(
      try TestMedia.videoFrames(2, size: large, keyframeEvery: 30), codec: .vp8, begin: 3, base: 1_000_000 + 270_000)
    script.add(try SmallCall.frames(3), codec: .vp8, begin: 5, base: 1_000_000 + 450_000)
    // A frame that cannot be decoded.
    let damaged = EncodedFrame(
      owner: script.owner, codec: .vp8, time: MediaTime(ticks: 1_000_000 + 360_500, rate: 90_000),
      payload: ByteBuffer(bytes: [0x11, 0x22]), isKeyframe: false, arrival: Script.beginning + .seconds(4.02))
    script.add(.frame(damaged), at: 4.02)
    let manifest = try await record(script, in: folder, pauses: [(3.005, 5.005)]).manifest
    let video = try #require(manifest.tracks.first { $0.kind == "video" })
    #expect(video.sizes?.map(\.width) == [64] && video.lastDecodedSize?.width == 64)
    #expect(video.decodeErrors == 0 && video.unverified == 0 && video.frames == 180)
  }

  @Test("a program that is killed in a pause leaves a manifest with the pause, which a repair keeps")
  func killed() async throws {
    let (disk, folder) = (ScriptedDisk(), TestFolder())
    let script = try SmallCall.script(12)
    let recorder = try folder.recorder(disk: disk)
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    await folder.play([script], to: recorder, until: 4.005)
    recorder.pause(at: Script.beginning + .seconds(4.005))
    await folder.play([script], to: recorder, from: 4.005, until: 5.005)
    recorder.resume(at: Script.beginning + .seconds(5.005))
    await folder.play([script], to: recorder, from: 5.005, until: 8.005)
    recorder.pause(at: Script.beginning + .seconds(8.005))
    await folder.play([script], to: recorder, from: 8.005, until: 11)
    try folder.store(disk.files)
    for outcome in RoomRecorder.repair(folder.path) { #expect("\(outcome)".contains("complete now")) }
    let manifest = try RecordingManifest(parsing: folder.bytes("anna.json"))
    #expect(manifest.finished && manifest.repaired == true && manifest.tracks.count == 2)
    for track in manifest.tracks {
      #expect(track.gaps.map(\.reason) == ["paused", "paused"], "\(track.kind)")
      #expect(track.gaps.map { ($0.start * 10).rounded() } == [40, 80], "\(track.kind)")
      #expect(track.gapTotals["paused"]?.count == 2)
    }
    await recorder.finish(now: Script.beginning + .seconds(11), within: .milliseconds(1))
  }
}

extension SmallCall {
  /// Video of 30 frames a second with a keyframe each second.
  static func frames(_ seconds: Double) throws -> [TestMedia.Piece] {
    try TestMedia.videoFrames(seconds, size: VideoSize(width: 64, height: 48), keyframeEvery: 30)
  }
}
