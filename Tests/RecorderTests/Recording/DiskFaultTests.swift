import Foundation
import Media
import TestSupport
import Testing

@testable import Recorder

@Suite("A disk that fails")
struct DiskFaultTests {
  /// Plays a script; the disk is worse between two moments.
  private func record(
    _ script: Script, on disk: ScriptedDisk, folder: TestFolder, memoryLimit: Int? = nil, segment: SegmentLimit? = nil,
    from begin: Double, until end: Double, change: (ScriptedDisk) -> Void, back: (ScriptedDisk) -> Void,
    between: () async throws -> Void = {}
  ) async throws -> (RecordingManifest, Recorder) {
    let recorder = try folder.recorder(segment: segment, memoryLimit: memoryLimit, disk: disk)
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    await folder.play([script], to: recorder, until: begin)
    change(disk)
    await folder.play([script], to: recorder, from: begin, until: end)
    try await between()
    back(disk)
    let last = await folder.play([script], to: recorder, from: end)
    // What failed last is tried again within a second.
    for tick in 1...12 { await recorder.advance(now: last + Recorder.tick * tick) }
    let summaries = await recorder.finish(now: last + .seconds(2))
    return (try #require(summaries.first).manifest, recorder)
  }

  private func expectWhole(_ files: [String: [UInt8]], of script: Script, in folder: TestFolder) throws {
    try folder.store(files)
    for name in ["anna.webm", "anna.ogg"] {
      #expect(try Reader(path: "\(folder.path)/\(name)").complaints("-enc_time_base", "-1") == "")
    }
    let blocks = BlockReader(files["anna.webm"] ?? [])
    expectSame(blocks.payloads(.vp8) == script.payloads(.vp8))
    expectSame(blocks.payloads(.opus) == script.payloads(.opus))
    #expect(folder.names == ["anna.json", "anna.ogg", "anna.webm"])
  }

  @Test(
    "a write that fails for 3 s is told once and costs nothing, and so does a file that cannot be made",
    arguments: [(2.0, ENOSPC), (2.0, EIO), (2.0, EROFS), (0.3, ENOSPC), (0.3, EACCES), (0.3, EROFS), (0.0, EACCES)])
  func failing(begin: Double, code: Int32) async throws {
    let script = try SmallCall.script(7)
    let disk = ScriptedDisk()
    let folder = TestFolder()
    let (manifest, recorder) = try await record(
      script, on: disk, folder: folder, from: begin, until: begin + 3,
      change: { $0.failures = begin == 2 ? [.write: code] : [.create: code, .link: code, .rename: code] },
      back: { $0.failures = [:] },
      between: {
        // What was written stays good.
        let now = TestFolder()
        try now.store(disk.files)
        for name in now.names where name.hasSuffix("webm") || name.hasSuffix("ogg") {
          #expect(try Reader(path: "\(now.path)/\(name)").complaints("-enc_time_base", "-1") == "")
        }
      })
    try expectWhole(disk.files, of: script, in: folder)
    let problems = await recorder.allProblems()
    #expect(problems.map(\.kind) == [.stalled, .resumed], "\(problems)")
    #expect(problems.first?.sentence.contains("(error \(code))") == true)
    #expect(manifest.finished && manifest.files.allSatisfy(\.complete))
    #expect(manifest.disk?.picturesDropped ?? 0 == 0 && manifest.disk?.packetsDropped ?? 0 == 0)
    if begin == 2 {
      #expect(manifest.disk?.stalls == 1)
      #expect(abs((manifest.disk?.duration ?? 0) - 3) < 1.2)
    }
    #expect(disk.openHandles <= 1)
  }

  @Test("writes that take a few bytes at a time change nothing", arguments: [1, 7, 4_096])
  func shortWrites(most: Int) async throws {
    let script = try SmallCall.script(2)
    let disks = [ScriptedDisk(), ScriptedDisk()]
    disks[1].mostAtOnce = most
    for disk in disks {
      let folder = TestFolder()
      _ = try await record(script, on: disk, folder: folder, from: 1, until: 1, change: { _ in }, back: { _ in })
    }
    expectSame(disks[0].files["anna.webm"] == disks[1].files["anna.webm"])
    #expect(disks[0].files["anna.ogg"]?.count == disks[1].files["anna.ogg"]?.count)
  }

  @Test("a full disk costs pictures up to a keyframe when the memory is full, and no sound")
  func fullMemory() async throws {
    let script = try SmallCall.script(16)
    let disk = ScriptedDisk()
    let folder = TestFolder()
    let limit = 256 << 10
    let (manifest, recorder) = try await record(
      script, on: disk, folder: folder, memoryLimit: limit, from: 2, until: 13,
      change: { $0.capacity = disk.files.values.reduce(0) { $0 + $1.count } + 100 }, back: { $0.capacity = .max })
    let files = disk.files
    try folder.store(files)
    for name in ["anna.webm", "anna.ogg"] {
      #expect(try Reader(path: "\(folder.path)/\(name)").complaints("-enc_time_base", "-1") == "")
    }
    let blocks = BlockReader(files["anna.webm"] ?? [])
    expectSame(blocks.payloads(.opus) == script.payloads(.opus))
    let sent = script.payloads(.vp8)
    let written = blocks.payloads(.vp8)
    let dropped = Int(manifest.disk?.picturesDropped ?? 0)
    #expect(dropped > 30 && written.count + dropped == sent.count)
    // One hole, and after it a keyframe.
    let pictures = blocks.blocks.filter { $0.track == WebMHeader.videoNumber }
    let hole = try #require(zip(written, sent).enumerated().first { $0.element.0 != $0.element.1 }?.offset)
    #expect(pictures[hole].isKeyframe)
    expectSame(Array(written[hole...]) == Array(sent.suffix(written.count - hole)))
    #expect(manifest.disk?.packetsDropped == 0 && manifest.disk?.stalls == 1)
    #expect(recorder.peakMemory <= limit)
    let problems = await recorder.allProblems()
    #expect(problems.map(\.kind) == [.stalled, .lost, .resumed], "\(problems)")
    #expect(await recorder.allKeyframeRequests() >= 1)
    print("measured: a full disk for 11 s: \(recorder.peakMemory) of \(limit) bytes of memory used, \(dropped) pictures left out")
  }

  @Test("sound is left out only when even the part that is kept for it is full")
  func fullOfSound() async throws {
    let script = try SmallCall.script(12)
    let disk = ScriptedDisk()
    let folder = TestFolder()
    let limit = 96 << 10
    let (manifest, recorder) = try await record(
      script, on: disk, folder: folder, memoryLimit: limit, from: 1, until: 11, change: { $0.failures = [.write: ENOSPC] },
      back: { $0.failures = [:] })
    #expect(recorder.peakMemory <= limit)
    let files = disk.files
    let blocks = BlockReader(files["anna.webm"] ?? [])
    let lost = Int(manifest.disk?.packetsDropped ?? 0)
    #expect(lost > 0 && manifest.disk?.picturesDropped ?? 0 > 100)
    #expect(blocks.payloads(.vp8).count + Int(manifest.disk?.picturesDropped ?? 0) == script.payloads(.vp8).count)
    try folder.store(files)
    for name in ["anna.webm", "anna.ogg"] {
      #expect(try Reader(path: "\(folder.path)/\(name)").complaints("-enc_time_base", "-1") == "")
    }
    #expect(abs(try Reader(path: "\(folder.path)/anna.ogg").probe().format.seconds - 12) < 0.1)
  }

  @Test("a disk that does not come back keeps nobody waiting, and costs no frame while the memory lasts")
  func hanging() async throws {
    let script = try SmallCall.script(12)
    let disk = ScriptedDisk()
    let folder = TestFolder()
    let recorder = try folder.recorder(disk: disk)
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    await folder.play([script], to: recorder, until: 1)
    disk.isHanging = true
    let events = script.inOrder.filter { $0.at > Script.beginning + .seconds(1) }
    let caught = Task { await recorder.advance(now: Script.beginning + .seconds(2)) }
    let started = ContinuousClock.now
    for entry in events.prefix(40) { recorder.receive(entry.event, of: script.owner, now: entry.at) }
    while !disk.hasHung { try await Task.sleep(for: .milliseconds(1)) }
    let before = ContinuousClock.now
    for entry in events.dropFirst(40) { recorder.receive(entry.event, of: script.owner, now: entry.at) }
    let taken = ContinuousClock.now - before
    #expect(recorder.status().map(\.participant) == [script.owner])
    disk.isHanging = false
    await caught.value
    #expect(ContinuousClock.now - started < .seconds(30))
    await recorder.advance(now: Script.beginning + .seconds(12))
    await recorder.finish(now: Script.beginning + .seconds(12))
    try expectWhole(disk.files, of: script, in: folder)
    let problems = await recorder.allProblems()
    #expect(problems.map(\.kind) == [.stalled, .resumed], "\(problems)")
    let each = taken / events.dropFirst(40).count
    print("measured: while a write hangs, handing over a frame takes \(each)")
    #expect(each < .milliseconds(5))
  }

  @Test("while the disk hangs the memory is bounded, and pictures go first")
  func hangingForLong() async throws {
    let script = try SmallCall.script(12)
    let disk = ScriptedDisk()
    let folder = TestFolder()
    let limit = 128 << 10
    let recorder = try folder.recorder(memoryLimit: limit, disk: disk)
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    await folder.play([script], to: recorder, until: 1)
    disk.isHanging = true
    let caught = Task { await recorder.advance(now: Script.beginning + .seconds(2)) }
    let (during, after) = (
      script.inOrder.filter { $0.at > Script.beginning + .seconds(1) && $0.at <= Script.beginning + .seconds(7) },
      script.inOrder.filter { $0.at > Script.beginning + .seconds(7) }
    )
    for entry in during { recorder.receive(entry.event, of: script.owner, now: entry.at) }
    #expect(recorder.peakMemory <= limit)
    disk.isHanging = false
    await caught.value
    for entry in after {
      recorder.receive(entry.event, of: script.owner, now: entry.at)
      await recorder.drain()
    }
    let manifest = try #require(await recorder.finish(now: Script.beginning + .seconds(12)).first).manifest
    let blocks = BlockReader(disk.files["anna.webm"] ?? [])
    expectSame(blocks.payloads(.opus) == script.payloads(.opus))
    let dropped = Int(manifest.disk?.picturesDropped ?? 0)
    #expect(dropped > 0 && blocks.payloads(.vp8).count + dropped == script.payloads(.vp8).count)
    #expect(await recorder.allKeyframeRequests() >= 1)
  }

  @Test("a disk that hangs at the end holds up nobody beyond the limit, and the user is told")
  func hangingEnd() async throws {
    let script = try SmallCall.script(2)
    let disk = ScriptedDisk()
    let folder = TestFolder()
    let recorder = try folder.recorder(disk: disk)
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    await folder.play([script], to: recorder)
    await recorder.advance(now: Script.beginning + .seconds(2))
    disk.isHanging = true
    let before = ContinuousClock.now
    let summaries = await recorder.finish(now: Script.beginning + .seconds(2), within: .milliseconds(200))
    #expect(ContinuousClock.now - before < .seconds(20))
    #expect(summaries.isEmpty)
    #expect(await recorder.allProblems().map(\.kind) == [.lost])
    disk.isHanging = false
  }

  @Test("a disk that is still full at the end leaves files that can be read, repaired, and say that they are unfinished")
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
    let finishing = Task { await recorder.finish(now: end, within: .seconds(10)) }
    var clock = end
    while clock < end + .seconds(9) {
      clock += Recorder.tick
      await recorder.advance(now: clock)
    }
    let manifest = try #require(await finishing.value.first).manifest
    #expect(!manifest.finished && manifest.files.allSatisfy { !$0.complete })
    #expect(manifest.disk?.picturesDropped ?? 0 > 20)
    #expect(await recorder.allProblems().map(\.kind) == [.stalled, .lost])
    #expect(disk.openHandles <= 1)
    try folder.store(disk.files)
    #expect(try RecordingManifest(parsing: folder.bytes("anna.json")).finished == false)
    #expect(Recorder.unfinished(in: folder.path) == ["anna.json"])
    let reports = Recorder.repair("\(folder.path)/anna.json")
    #expect(reports.map(\.isWhole) == [true, true, true])
    for name in ["anna.webm", "anna.ogg"] {
      let reader = Reader(path: "\(folder.path)/\(name)")
      #expect(try reader.complaints("-enc_time_base", "-1") == "")
      #expect(try reader.probe().format.seconds > 1)
    }
  }

  @Test("a folder that becomes read-only in mid-call holds up the next segment, and costs nothing")
  func readOnly() async throws {
    let script = try SmallCall.script(8)
    let disk = ScriptedDisk()
    let folder = TestFolder()
    let (manifest, _) = try await record(
      script, on: disk, folder: folder, segment: SegmentLimit(duration: .seconds(2)), from: 1.5, until: 5,
      change: { $0.failures = [.create: EROFS, .link: EROFS, .rename: EROFS] }, back: { $0.failures = [:] })
    let webMs = disk.files.keys.filter { $0.hasSuffix("webm") }.sorted()
    #expect(webMs.count == 4)
    let blocks = webMs.map { BlockReader(disk.files[$0] ?? []) }
    expectSame(blocks.flatMap { $0.payloads(.vp8) } == script.payloads(.vp8))
    expectSame(blocks.flatMap { $0.payloads(.opus) } == script.payloads(.opus))
    #expect(manifest.finished && manifest.files.count == 8)
  }
}
