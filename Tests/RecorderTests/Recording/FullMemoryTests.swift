import Foundation
import Media
import Recorder
import TestSupport
import Testing

/// Recordings whose memory for queued frames is full.
@Suite("A disk that stays full for too long")
struct FullMemoryTests {
  @Test("when the memory fills up, a full disk costs video up to a keyframe, and no audio")
  func fullMemory() async throws {
    let limit = 256 << 10
    let call = FaultyCall(
      script: try SmallCall.script(16), disk: ScriptedDisk(), folder: TestFolder(), memoryLimit: limit)
    let (manifest, recorder) = try await call.record(
      from: 2, until: 8.5, change: { $0.fill(leaving: 100) },
      back: { $0.capacity = .max })
    let files = call.disk.files
    try call.expectReadable(files)
    let blocks = BlockReader(files["anna.webm"] ?? [])
    expectSame(blocks.payloads(.opus) == call.script.payloads(.opus))
    let sent = call.script.payloads(.vp8)
    let written = blocks.payloads(.vp8)
    let dropped = Int(manifest.disk?.framesDropped ?? 0)
    let missing = sent.count - written.count
    #expect(dropped > 30 && dropped == missing)
    // One gap, and after it a keyframe.
    let videoFrames = blocks.blocks.filter { $0.track == MatroskaHeader.videoNumber }.map(\.isKeyframe)
    let hole = try #require(zip(written, sent).enumerated().first { $0.element.0 != $0.element.1 }?.offset)
    let isKeyframe = videoFrames[hole]
    #expect(isKeyframe)
    expectSame(Array(written[hole...]) == Array(sent.suffix(written.count - hole)))
    #expect(manifest.disk?.packetsDropped == 0 && manifest.disk?.stalls == 1)
    #expect(recorder.peakMemory <= limit)
    let problems = await recorder.allProblems()
    let kinds = problems.map(\.kind)
    #expect(kinds == [.stalled, .lost, .resumed], "\(problems)")
    let full = problems.first { $0.kind == .lost }?.sentence ?? ""
    #expect(full.contains("video, and then audio, is dropped until there is space again"))
    let requests = await recorder.allKeyframeRequests()
    #expect(requests >= 1)
    let gaps = manifest.tracks.first { $0.kind == "video" }?.gapTotals["diskStalled"]?.frames
    #expect(gaps == UInt64(dropped))
    print(
      "measured: a full disk for 6.5 s: \(recorder.peakMemory) of \(limit) bytes of memory used, \(dropped) frames dropped"
    )
  }

  @Test("packets that the network loses while the memory is full are a gap, but not counted for the disk")
  func fullAndLossy() async throws {
    let limit = 256 << 10
    let call = FaultyCall(
      script: try SmallCall.script(16).losing(.vp8, everyTenthAfter: 20), disk: ScriptedDisk(), folder: TestFolder(),
      memoryLimit: limit)
    let (manifest, _) = try await call.record(
      from: 2, until: 8.5, change: { $0.fill(leaving: 100) },
      back: { $0.capacity = .max })
    let written = BlockReader(call.disk.files["anna.webm"] ?? []).payloads(.vp8).count
    let dropped = Int(manifest.disk?.framesDropped ?? 0)
    let missing = call.script.payloads(.vp8).count - written
    #expect(dropped > 30 && dropped == missing, "only frames that arrived and are in no file")
    let track = try #require(manifest.tracks.first { $0.kind == "video" })
    let stalled = try #require(track.gapTotals["diskStalled"])
    #expect(stalled.packets > 5 && stalled.packets < track.lost)
    // Every two lost packets report one more frame.
    #expect(stalled.frames == UInt64(dropped) + stalled.packets / 2)
    #expect(track.gapTotals.values.reduce(0) { $0 + $1.packets } == track.lost)
    #expect(track.gapTotals.values.reduce(0) { $0 + $1.frames } == track.dropped + UInt64(dropped))
  }

  @Test("audio is dropped only when even the memory reserved for it is full")
  func fullOfAudio() async throws {
    let limit = 96 << 10
    let call = FaultyCall(
      script: try SmallCall.script(12), disk: ScriptedDisk(), folder: TestFolder(), memoryLimit: limit)
    let (manifest, recorder) = try await call.record(
      from: 1, until: 11, change: { $0.failures = [.write: ENOSPC] }, back: { $0.failures = [:] })
    #expect(recorder.peakMemory <= limit)
    let files = call.disk.files
    try call.expectReadable(files)
    let blocks = BlockReader(files["anna.webm"] ?? [])
    for (codec, dropped) in [(Codec.vp8, manifest.disk?.framesDropped), (.opus, manifest.disk?.packetsDropped)] {
      let lost = Int(dropped ?? 0)
      let missing = call.script.payloads(codec).count - blocks.payloads(codec).count
      #expect(lost > 0 && lost == missing, "\(codec)")
    }
    let length = try Reader(path: "\(call.folder.path)/anna.ogg").probe().format.seconds
    #expect(abs(length - 12) < 0.1)
  }

  @Test(
    "a disk that is still full at the end leaves files that can be read and repaired, and are marked unfinished")
  func fullEnd() async throws {
    let script = try SmallCall.script(4)
    let disk = ScriptedDisk()
    let folder = TestFolder()
    let recorder = try folder.recorder(disk: disk)
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    await folder.play([script], to: recorder, until: 2)
    disk.failures = [.write: ENOSPC]
    await folder.play([script], to: recorder, from: 2)
    let end = Script.beginning + .seconds(4)
    let manifest = try #require(try await finishWithBlockedDisk(recorder, at: end).first).manifest
    #expect(!manifest.finished && manifest.files.allSatisfy { !$0.complete })
    let files = disk.files
    // Every frame that is in no file is counted.
    let videoFrames = script.payloads(.vp8).count - BlockReader(files["anna.webm"] ?? []).payloads(.vp8).count
    let lost = Int(manifest.disk?.framesDropped ?? 0)
    #expect(lost > 20 && lost == videoFrames)
    let problems = await recorder.allProblems()
    let kinds = problems.map(\.kind)
    #expect(kinds == [.stalled, .lost], "\(problems)")
    #expect(disk.openHandles <= 1)
    try folder.store(files)
    let ogg = try OggCount(files["anna.ogg"] ?? [])
    #expect(ogg.packets + Int(manifest.disk?.packetsDropped ?? 0) == script.payloads(.opus).count)
    #expect(try RecordingManifest(parsing: folder.bytes("anna.json")).finished == false)
    #expect(RoomRecorder.unfinished(in: folder.path) == ["anna.json"])
    let reports = RoomRecorder.repair("\(folder.path)/anna.json")
    #expect(reports.map(\.isComplete) == [true, true, true])
    for name in ["anna.webm", "anna.ogg"] {
      let reader = Reader(path: "\(folder.path)/\(name)")
      #expect(try reader.complaints("-enc_time_base", "-1") == "")
      #expect(try reader.probe().format.seconds > 1)
    }
  }
}
