import Foundation
import Media
import Recorder
import TestSupport
import Testing

@Suite("Segments of a recording")
struct SegmentTests {
  /// The files of one extension and their content, in sequence.
  private struct SegmentedRecording {
    var files: [RecordingManifest.File]
    var blocks: [BlockReader]
  }

  private func record(
    _ script: Script, in folder: TestFolder, limit: SegmentLimit
  ) async throws -> (manifest: RecordingManifest, recording: SegmentedRecording) {
    let manifest = try #require(try await folder.record(script, segment: limit).first).manifest
    let files = manifest.files.filter { $0.kind == "webm" }
    let recording = SegmentedRecording(files: files, blocks: try files.map { BlockReader(try folder.bytes($0.name)) })
    // In every test the files are valid, sort by name, and are all listed.
    let names = folder.names.filter { !$0.hasSuffix("json") }
    #expect(manifest.files.map(\.name).sorted() == names)
    #expect(manifest.finished && manifest.files.allSatisfy(\.complete))
    for kind in ["webm", "ogg"] {
      let ofKind = manifest.files.filter { $0.kind == kind }
      #expect(ofKind.map(\.name) == ofKind.map(\.name).sorted())
      #expect(ofKind.map(\.start) == ofKind.map(\.start).sorted())
    }
    for name in names {
      let complaints = try Reader(path: "\(folder.path)/\(name)").complaints("-enc_time_base", "-1")
      #expect(complaints == "", "\(name)")
    }
    return (manifest, recording)
  }

  /// Expects every frame of the call once, in order, and each at its position on the common timeline.
  private func expectNoSeam(_ recording: SegmentedRecording, of script: Script) {
    for codec in [Codec.opus, .vp8] {
      let written = recording.blocks.flatMap { $0.payloads(codec) }
      expectSame(written == script.payloads(codec))
      let number = codec == .vp8 ? MatroskaHeader.videoNumber : MatroskaHeader.audioNumber
      let times = zip(recording.files, recording.blocks).flatMap { file, reader in
        reader.blocks.filter { $0.track == number }.map { Int64((file.start * 1_000).rounded()) + $0.time }
      }
      let steps = zip(times.dropFirst(), times).map { $0 - $1 }
      let longest = codec == .vp8 ? 35 : 22
      let isEven = steps.allSatisfy { $0 > 0 && $0 <= longest }
      #expect(isEven, "\(codec): \(steps.max() ?? 0) ms")
    }
  }

  /// Expects consecutive files without gaps that are as long as the call.
  private func expectEndToEnd(_ files: [RecordingManifest.File], length: Double, tolerance: Double) {
    for (file, next) in zip(files, files.dropFirst()) {
      #expect(abs(file.start + file.duration - next.start) <= tolerance, "\(file.name)")
    }
    let end = files.last.map { $0.start + $0.duration } ?? 0
    #expect(abs(end - length) < 0.04)
  }

  @Test("each finished file is reported once, when the manifest on the disk lists it as complete")
  func reported() async throws {
    let folder = TestFolder()
    let script = try SmallCall.script(13)
    let recorder = try folder.recorder(segment: SegmentLimit(duration: .seconds(3)))
    recorder.begin(script.owner, name: "Anna", now: Script.beginning, wallClock: TestFolder.wallClock)
    let last = await folder.play([script], to: recorder, until: 8)
    var segments = recorder.segments.makeAsyncIterator()
    let first = try #require(await segments.next())
    #expect(first.base == "Anna" && first.file.segment == 1 && first.file.complete && first.folder == folder.path)
    let onDisk = try RecordingManifest(parsing: folder.bytes("Anna.json"))
    #expect(onDisk.files.contains(first.file) && !onDisk.finished)
    recorder.end(script.owner, reason: .left, now: last)
    await recorder.finish(now: last)
    var names = [first.file.name]
    while let segment = await segments.next() { names.append(segment.file.name) }
    #expect(names.sorted() == folder.names.filter { !$0.hasSuffix("json") } && names.count == 6)
  }

  @Test("when nobody takes the finished files, the newest are kept, and a problem is reported once")
  func leftOut() async throws {
    let folder = TestFolder()
    let script = try SmallCall.script(13)
    let recorder = try folder.recorder(segment: SegmentLimit(duration: .seconds(3)), bufferedSegments: 2)
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    let last = await folder.play([script], to: recorder)
    recorder.end(script.owner, reason: .left, now: last)
    await recorder.finish(now: last)
    var segments = 0
    for await _ in recorder.segments { segments += 1 }
    var problems: [RoomRecorder.Problem] = []
    for await problem in recorder.problems { problems.append(problem) }
    #expect(segments == 2 && problems.map(\.kind) == [.segmentsLeftOut])
    #expect(problems.first?.sentence.contains("anna.0001.") == true)
  }

  @Test("with a limit of time, the next files begin with a keyframe, and nothing is lost or duplicated")
  func byTime() async throws {
    let folder = TestFolder()
    let script = try SmallCall.script(13)
    let (manifest, recording) = try await record(script, in: folder, limit: SegmentLimit(duration: .seconds(3)))
    #expect(recording.files.map(\.name) == (1...5).map { "anna.000\($0).webm" })
    #expect(recording.files.map(\.segment) == [1, 2, 3, 4, 5])
    let begins = recording.blocks.map { $0.blocks.first { $0.track == MatroskaHeader.videoNumber } }
    #expect(begins.allSatisfy { $0?.isKeyframe == true && $0?.time ?? .max <= 10 })
    expectNoSeam(recording, of: script)
    expectEndToEnd(recording.files, length: 13, tolerance: 0.04)
    // Each Ogg lacks the codec's lookahead of 6.5 ms at its end, whose audio is in the next packet.
    let oggs = manifest.files.filter { $0.kind == "ogg" }
    expectEndToEnd(oggs, length: 13, tolerance: 0.03)
    let packets = try oggs.reduce(0) { try $0 + OggCount(folder.bytes($1.name)).packets }
    #expect(packets == script.payloads(.opus).count)
    print(
      "measured: 13 s in 5 segments: \(script.payloads(.vp8).count) frames and \(packets) packets, none lost or duplicated"
    )
  }

  @Test(
    "audio that arrives long after the keyframe of the same time goes into the files that it belongs to",
    arguments: [(3, 3, 2.6), (1, 7, 1.9)])
  func lateAudio(segment: Int, files: Int, from begin: Double) async throws {
    let folder = TestFolder()
    var script = Script()
    // Delayed by the network, and then all at once.
    let delay = { (index: Int) in
      let time = Double(index) / 50
      return (begin..<3.4).contains(time) ? 3.4 - time + 0.0001 * Double(index - 90) : 0.01
    }
    script.add(try TestMedia.tone(7), codec: .opus, delay: delay)
    script.add(try TestMedia.videoFrames(7, size: VideoSize(width: 64, height: 48), keyframeEvery: 30), codec: .vp8)
    script.addReports(.opus, at: [0.5])
    script.addReports(.vp8, at: [0.6])
    let (manifest, recording) = try await record(script, in: folder, limit: SegmentLimit(duration: .seconds(segment)))
    #expect(recording.files.count == files)
    expectNoSeam(recording, of: script)
    expectEndToEnd(recording.files, length: 7, tolerance: 0.04)
    let oggs = manifest.files.filter { $0.kind == "ogg" }
    expectEndToEnd(oggs, length: 7, tolerance: 0.03)
  }

  @Test("while the camera is off and the microphone mostly silent, the files of a segment begin together")
  func seldomAudio() async throws {
    let folder = TestFolder()
    var script = Script()
    // From 2 s on one packet every 400 ms, as a sender in DTX sends them.
    let audio = try TestMedia.tone(14).enumerated().filter { $0.offset < 100 || $0.offset.isMultiple(of: 20) }
    script.add(audio.map(\.element), codec: .opus)
    script.add(try TestMedia.videoFrames(2, size: VideoSize(width: 64, height: 48), keyframeEvery: 30), codec: .vp8)
    script.addReports(.opus, at: [0.5])
    script.addReports(.vp8, at: [0.6])
    let (manifest, recording) = try await record(script, in: folder, limit: SegmentLimit(duration: .seconds(3)))
    #expect(recording.files.count == 5)
    for file in recording.files {
      let ogg = try #require(manifest.files.first { $0.kind == "ogg" && $0.segment == file.segment })
      #expect(abs(ogg.start - file.start) < 0.03 && ogg.duration < 4, "segment \(file.segment ?? 0)")
    }
    expectSame(recording.blocks.flatMap { $0.payloads(.opus) } == script.payloads(.opus))
  }

  @Test("with a limit of size, each file is about as large as the limit")
  func bySize() async throws {
    let folder = TestFolder()
    let script = try SmallCall.script(13)
    let limit: Int64 = 30_000
    let (_, recording) = try await record(script, in: folder, limit: SegmentLimit(bytes: limit))
    #expect(recording.files.count >= 3)
    // The limit, up to 600 ms that were not written yet, and up to the next keyframe.
    let largest = recording.files.map(\.bytes).max() ?? 0
    let smallest = recording.files.dropLast().map(\.bytes).min() ?? 0
    #expect(smallest >= limit && largest < limit * 5 / 2)
    expectNoSeam(recording, of: script)
    expectEndToEnd(recording.files, length: 13, tolerance: 0.04)
  }

  @Test("an audio-only recording is split between packets")
  func audioOnly() async throws {
    let folder = TestFolder()
    var script = Script()
    script.add(try TestMedia.tone(10), codec: .opus)
    let (manifest, _) = try await record(script, in: folder, limit: SegmentLimit(duration: .seconds(3)))
    #expect(manifest.files.map(\.name) == (1...4).map { "anna.000\($0).ogg" })
    expectEndToEnd(manifest.files, length: 10, tolerance: 0.008)
    let packets = try manifest.files.reduce(0) { try $0 + OggCount(folder.bytes($1.name)).packets }
    #expect(packets == 500)
  }

  @Test("a video-only recording is split between frames")
  func videoOnly() async throws {
    let folder = TestFolder()
    var script = Script()
    script.add(
      try TestMedia.videoFrames(10, size: VideoSize(width: 64, height: 48), keyframeEvery: 30), codec: .vp8)
    let (_, recording) = try await record(script, in: folder, limit: SegmentLimit(duration: .seconds(3)))
    #expect(recording.files.count == 4)
    expectNoSeam(recording, of: script)
    expectEndToEnd(recording.files, length: 10, tolerance: 0.04)
  }

  @Test(
    "while the camera is off, the next files begin with audio, and dependent frames stay with their references")
  func cameraOff() async throws {
    let folder = TestFolder()
    let size = VideoSize(width: 64, height: 48)
    let videoFrames = try TestMedia.videoFrames(12, size: size, keyframeEvery: 300)
    var script = Script()
    script.add(try TestMedia.tone(12), codec: .opus)
    // Off from 2 s to 6 s; the frames after that depend on earlier ones, until the keyframe at 10 s.
    script.add(videoFrames.filter { $0.ticks < 180_000 || $0.ticks >= 540_000 }, codec: .vp8)
    script.addReports(.opus, at: [0.5])
    script.addReports(.vp8, at: [0.6])
    let (manifest, recording) = try await record(script, in: folder, limit: SegmentLimit(duration: .seconds(3)))
    for codec in [Codec.opus, .vp8] {
      let written = recording.blocks.flatMap { $0.payloads(codec) }
      expectSame(Self.sorted(written) == Self.sorted(script.payloads(codec)))
    }
    let keyframes = recording.blocks.compactMap {
      $0.blocks.first { $0.track == MatroskaHeader.videoNumber }?.isKeyframe
    }
    #expect(keyframes.allSatisfy(\.self) && keyframes.count >= 2)
    #expect(manifest.files.filter { $0.kind == "ogg" }.count >= 2)
  }

  private static func sorted(_ payloads: [[UInt8]]) -> [[UInt8]] {
    payloads.sorted { $0.lexicographicallyPrecedes($1) }
  }

  @Test("a keyframe is requested every 500 ms until one arrives, and the files continue until then")
  func asks() async throws {
    let folder = TestFolder()
    let script = try SmallCall.script(8, keyframeEvery: 180)
    let recorder = try folder.recorder(segment: SegmentLimit(duration: .seconds(3)))
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    let last = await folder.play([script], to: recorder)
    let manifest = try #require(await recorder.finish(now: last).first).manifest
    let starts = manifest.files.filter { $0.kind == "webm" }.map(\.start)
    #expect(starts.count == 2 && abs((starts.last ?? 0) - 6) < 0.01)
    let requests = await recorder.allKeyframeRequests()
    #expect((5...7).contains(requests))
  }

  @Test(
    "if a segment ended while the camera was off, a keyframe is requested as soon as video continues, and every 500 ms",
    arguments: [SegmentLimit(duration: .seconds(6)), SegmentLimit(bytes: 40_000)])
  func cameraBack(limit: SegmentLimit) async throws {
    let folder = TestFolder()
    let videoFrames = try TestMedia.videoFrames(11.4, size: VideoSize(width: 64, height: 48), keyframeEvery: 330)
    var script = Script()
    script.add(try TestMedia.tone(11.4), codec: .opus)
    // A still image from 3 s to 9.5 s; the keyframe arrives at 11 s.
    script.add(videoFrames.filter { $0.ticks < 270_000 || $0.ticks >= 855_000 }, codec: .vp8)
    script.addReports(.opus, at: [0.5])
    script.addReports(.vp8, at: [0.6])
    let recorder = try folder.recorder(segment: limit)
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    let last = await folder.play([script], to: recorder)
    let manifest = try #require(await recorder.finish(now: last).first).manifest
    let requests = await recorder.allKeyframeRequests()
    // At 9.5, 10, and 10.5 s; possibly one more, and one when the limit was reached.
    #expect((3...5).contains(requests), "\(requests)")
    let webMs = manifest.files.filter { $0.kind == "webm" }
    let blocks = try webMs.map { BlockReader(try folder.bytes($0.name)) }
    // Frames that depend on the first ones are in the same file, and all from the keyframe on go into the newest file.
    #expect(webMs.count == manifest.files.count { $0.kind == "ogg" } && webMs.count >= 2)
    #expect(blocks.first?.payloads(.vp8).count == 90 + 45)
    #expect(blocks.last?.payloads(.vp8).count == 12)
    for (file, reader) in zip(webMs, blocks).dropFirst() {
      let first = reader.blocks.first { $0.track == MatroskaHeader.videoNumber }
      #expect(first?.isKeyframe ?? true, "\(file.name)")
    }
  }

  @Test("a wall clock that jumps an hour between two participants changes only the start in their manifests")
  func wallClockJump() async throws {
    var images: [[String: [UInt8]]] = []
    for jump in [0.0, 3_600] {
      let disk = ScriptedDisk()
      let folder = TestFolder()
      let recorder = try folder.recorder(segment: SegmentLimit(duration: .seconds(2)), disk: disk)
      let scripts = [try SmallCall.script(5), try SmallCall.script(5, owner: "bert")]
      recorder.begin(scripts[0].owner, now: Script.beginning, wallClock: TestFolder.wallClock)
      recorder.begin(scripts[1].owner, now: Script.beginning, wallClock: TestFolder.wallClock + jump)
      let last = await folder.play(scripts, to: recorder)
      await recorder.finish(now: last)
      images.append(disk.files)
    }
    #expect(images[0].keys.sorted() == images[1].keys.sorted())
    // The serial number of an Ogg stream is random.
    for (name, bytes) in images[0] where !name.hasSuffix("ogg") {
      let other = images[1][name] ?? []
      let changed = zip(bytes.indices, zip(bytes, other)).filter { $1.0 != $1.1 }.map(\.0)
      let isSame = bytes.count == other.count && changed.isEmpty
      if name.hasPrefix("anna") {
        // The recorder reads the wall clock neither now nor at the start of a segment.
        if name.hasSuffix("webm") { #expect(isSame, "\(name)") }
      } else {
        #expect(!isSame && bytes.count == other.count, "\(name)")
        if name.hasSuffix("webm") { #expect(changed.count <= 8, "\(name)") }
      }
    }
    let starts = try images.map { try RecordingManifest(parsing: $0["bert.json"] ?? []).start.prefix(16) }
    #expect(starts == ["2026-03-01T09:30", "2026-03-01T10:30"])
  }
}
