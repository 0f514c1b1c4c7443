import Foundation
import Media
import Recorder
import TestSupport
import Testing

/// Writes that do not return for a while.
@Suite("A disk that hangs")
struct HangingDiskTests {
  /// A recorder whose thread is inside a write that does not return.
  private struct BlockedRecorder {
    let folder: TestFolder
    let disk: ScriptedDisk
    let recorder: RoomRecorder
    let caught: Task<Void, Never>
  }

  /// Records up to a moment and lets the disk hang then.
  private func catchIt(_ script: Script, at seconds: Double, memoryLimit: Int? = nil) async throws -> BlockedRecorder {
    let (folder, disk) = (TestFolder(), ScriptedDisk())
    let recorder = try folder.recorder(memoryLimit: memoryLimit, disk: disk)
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    await folder.play([script], to: recorder, until: seconds)
    disk.isHanging = true
    let caught = Task { await recorder.advance(now: Script.beginning + .seconds(seconds + 1)) }
    for _ in 0..<20_000 where !disk.hasHung { try await Task.sleep(for: .milliseconds(1)) }
    let hasHung = disk.hasHung
    if !hasHung { disk.isHanging = false }
    try #require(hasHung)
    return BlockedRecorder(folder: folder, disk: disk, recorder: recorder, caught: caught)
  }

  private func events(
    of script: Script, from begin: Double, until end: Double
  ) -> [(at: MonotonicInstant, event: MediaEvent)] {
    script.inOrder.filter { $0.at > Script.beginning + .seconds(begin) && $0.at <= Script.beginning + .seconds(end) }
  }

  @Test("a write that takes 10 s blocks no caller, and costs no frame while the memory lasts")
  func hanging() async throws {
    let script = try SmallCall.script(14)
    let hang = try await catchIt(script, at: 1)
    let before = MonotonicInstant.now
    let during = events(of: script, from: 1, until: 11)
    for entry in during { hang.recorder.receive(entry.event, of: script.owner, now: entry.at) }
    let each = (MonotonicInstant.now - before) / during.count
    #expect(hang.recorder.status().map(\.participant) == [script.owner])
    hang.disk.isHanging = false
    await hang.caught.value
    await hang.folder.play([script], to: hang.recorder, from: 11.000_001)
    let manifest = try #require(await hang.recorder.finish(now: Script.beginning + .seconds(14)).first).manifest
    try FaultyCall(script: script, disk: hang.disk, folder: hang.folder).expectWhole()
    let problems = await hang.recorder.allProblems()
    let kinds = problems.map(\.kind)
    #expect(kinds == [.stalled, .resumed], "\(problems)")
    #expect(manifest.disk?.stalls == 1 && manifest.disk?.framesDropped == 0 && manifest.disk?.packetsDropped == 0)
    #expect(abs((manifest.disk?.duration ?? 0) - 10) < 0.5)
    print("measured: while a write hangs for 10 s, handing over a frame takes \(each)")
    #expect(each < .milliseconds(5))
  }

  @Test("while the disk hangs, memory is bounded, and video is dropped first, up to a requested keyframe")
  func hangingForLong() async throws {
    // A keyframe every 10 s. The quarter of the memory that is reserved for audio holds 1.5 s of it.
    let script = try SmallCall.script(14, keyframeEvery: 300)
    let limit = 128 << 10
    let hang = try await catchIt(script, at: 1, memoryLimit: limit)
    for entry in events(of: script, from: 1, until: 5) {
      hang.recorder.receive(entry.event, of: script.owner, now: entry.at)
    }
    #expect(hang.recorder.peakMemory <= limit)
    hang.disk.isHanging = false
    await hang.caught.value
    await hang.recorder.drain()
    await hang.folder.play([script], to: hang.recorder, from: 5.000_001)
    let manifest = try #require(await hang.recorder.finish(now: Script.beginning + .seconds(14)).first).manifest
    let files = hang.disk.files
    let blocks = BlockReader(files["anna.webm"] ?? [])
    expectSame(blocks.payloads(.opus) == script.payloads(.opus))
    let dropped = Int(manifest.disk?.framesDropped ?? 0)
    let missing = script.payloads(.vp8).count - blocks.payloads(.vp8).count
    #expect(dropped > 0 && dropped == missing)
    let problems = await hang.recorder.allProblems()
    let kinds = problems.map(\.kind)
    #expect(kinds == [.stalled, .lost, .resumed], "\(problems)")
    // Every 500 ms, from 5 s to the keyframe at 10 s.
    let requests = await hang.recorder.allKeyframeRequests()
    #expect((8...12).contains(requests))
    try FaultyCall(script: script, disk: hang.disk, folder: hang.folder).expectReadable(files)
    print("measured: a write that hangs for 4 s: \(hang.recorder.peakMemory) of \(limit) bytes of memory used")
  }

  @Test("a disk that hangs at the end delays the end only up to the limit, and this is reported")
  func hangingEnd() async throws {
    let script = try SmallCall.script(2)
    let hang = try await catchIt(script, at: 1)
    for entry in events(of: script, from: 1, until: 2) {
      hang.recorder.receive(entry.event, of: script.owner, now: entry.at)
    }
    let before = MonotonicInstant.now
    let summaries = await hang.recorder.finish(now: Script.beginning + .seconds(2), within: .milliseconds(200))
    let taken = MonotonicInstant.now - before
    hang.disk.isHanging = false
    #expect(taken < .seconds(20))
    #expect(summaries.isEmpty)
    let problems = await hang.recorder.allProblems()
    let kinds = problems.map(\.kind)
    #expect(kinds == [.lost], "\(problems)")
    #expect(problems.first?.sentence.contains("Media received in the last 1.0 s of the call is not written.") == true)
    // Once the disk responds, the files are still finished.
    await hang.caught.value
    await hang.recorder.drain()
    try FaultyCall(script: script, disk: hang.disk, folder: hang.folder).expectWhole()
  }
}
