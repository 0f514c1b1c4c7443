import Foundation
import Media
import Recorder
import TestSupport
import Testing

/// Recordings whose end the disk did not accept.
@Suite("A disk that accepts nothing until the end")
struct DiskFullUntilEndTests {
  /// How a disk fails.
  enum Fault: CaseIterable {
    case full, broken

    func apply(to disk: ScriptedDisk) {
      switch self {
      case .full: disk.fill(leaving: 100)
      case .broken: disk.failures = [.write: EIO]
      }
    }

    var code: Int32 { self == .full ? ENOSPC : EIO }
  }

  @Test(
    "the manifest counts what is in the files, lists the missing rest as a gap, and a repair keeps that",
    arguments: Fault.allCases)
  func untilTheEnd(fault: Fault) async throws {
    let script = try SmallCall.script(6)
    let (disk, folder) = (ScriptedDisk(), TestFolder())
    let recorder = try folder.recorder(disk: disk)
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    await folder.play([script], to: recorder, until: 2)
    // A full disk still has space reserved for the manifest.
    disk.sparesManifests = fault == .broken
    fault.apply(to: disk)
    await folder.play([script], to: recorder, from: 2)
    let summary = try #require(try await finishWithBlockedDisk(recorder, at: Script.beginning + .seconds(6)).first)
    let manifest = summary.manifest
    // A full disk has space reserved for closing the files.
    #expect(manifest.finished == (fault == .full) && manifest.endReason == .stopped)
    #expect(manifest.files.allSatisfy { $0.complete == (fault == .full) })
    #expect(summary.storageError?.code == fault.code)
    try folder.store(disk.files)
    #expect(try RecordingManifest(parsing: folder.bytes("anna.json")) == manifest)

    let written = try Written(in: folder)
    for kind in MediaKind.allCases {
      let track = try #require(summary.track(kind))
      written.expectToBe(track)
      let sent = script.payloads(kind == .video ? .vp8 : .opus).count
      let gap = try #require(track.gaps.last)
      #expect(gap.reason == "diskStalled" && abs(gap.start - track.end) < 0.003)
      #expect(track.end < 2.1 && abs(gap.start + gap.duration - 6) < 0.06, "\(track.end) \(gap)")
      let missing = sent - Int(track.frames)
      #expect(gap.frames == missing && missing > 100)
      #expect(track.gapTotals["diskStalled"]?.frames == UInt64(gap.frames))
      #expect(track.gapTotals["diskStalled"]?.duration == gap.duration)
      #expect(track.unwritten == gap.duration)
      let dropped = kind == .video ? manifest.disk?.framesDropped : manifest.disk?.packetsDropped
      #expect(dropped == UInt64(gap.frames))
    }
    #expect(manifest.duration < 2.1)
    for file in manifest.files {
      let length = try #require(try Reader(path: "\(folder.path)/\(file.name)").packets("audio").last?.time)
      #expect(abs(file.duration - length) < 0.06, "\(file)")
    }
    // From the first failed write to the end of the call, however long the recorder waited for the disk then.
    let stalled = try #require(manifest.disk?.duration)
    #expect(manifest.disk?.stalls == 1 && stalled > 3 && stalled <= 4.001)
    let longest = manifest.tracks.map(\.unwritten).max() ?? 0
    let sentence = await recorder.allProblems().last?.sentence ?? ""
    #expect(sentence.contains("did not accept the last \(longest) s of it"), "\(sentence)")

    if fault == .full { try expectClosed(manifest, in: folder) }
    let reports = RoomRecorder.repair("\(folder.path)/anna.json")
    #expect(reports.count { $0.isComplete } == reports.count)
    let repaired = try RecordingManifest(parsing: folder.bytes("anna.json"))
    #expect(repaired.finished && repaired.duration < 2.1)
    #expect(repaired.repaired == (fault == .broken ? true : nil))
    #expect(repaired.tracks == manifest.tracks && repaired.disk == manifest.disk)
    print("measured: a disk that accepts nothing for the last 4 s of 6: \(longest) s are reported missing")
  }

  /// Expects the files to be closed, with everything that other programs need.
  private func expectClosed(_ manifest: RecordingManifest, in folder: TestFolder) throws {
    for file in manifest.files {
      let path = "\(folder.path)/\(file.name)"
      for report in RoomRecorder.repair(path) {
        guard case .intact = report.outcome else { Issue.record("\(report)"); continue }
      }
      let reader = Reader(path: path)
      #expect(try reader.complaints() == "")
      #expect(try abs(reader.probe().format.seconds - file.duration) < 0.06)
      if file.kind == "webm" {
        let about = try reader.mkvinfo("-a", "-v")
        #expect(about.contains("+ Cues") && about.contains("+ Duration"), "\(about)")
      } else {
        let about = try reader.opusinfo()
        #expect(!about.contains("WARNING") && !about.contains("ERROR") && !about.contains("exit code"), "\(about)")
      }
    }
  }

  @Test("a real disk that is full until the end has space for closing the files", .enabled(if: SmallDisk.canBeMounted))
  func reallyFull() async throws {
    let disk = try SmallDisk()
    guard disk.isMounted else { return print("skipped: this system does not allow mounting a tmpfs") }
    let script = try SmallCall.script(6)
    let folder = TestFolder()
    var configuration = RoomRecorder.Configuration(folder: "\(disk.path)/out", room: "100")
    configuration.usesSystemClock = false
    let recorder = try RoomRecorder(configuration)
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    await folder.play([script], to: recorder, until: 2)
    _ = try ExternalTool.run("dd", ["if=/dev/zero", "of=\(disk.path)/filler", "bs=4096"])
    await folder.play([script], to: recorder, from: 2)
    let summary = try #require(try await finishWithBlockedDisk(recorder, at: Script.beginning + .seconds(6)).first)
    var files: [String: [UInt8]] = [:]
    for name in ["anna.webm", "anna.ogg", "anna.json"] {
      files[name] = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(disk.path)/out/\(name)")))
    }
    try folder.store(files)
    let manifest = try RecordingManifest(parsing: folder.bytes("anna.json"))
    #expect(manifest == summary.manifest && manifest.finished && manifest.files.count == 2)
    #expect(manifest.tracks.allSatisfy { $0.unwritten > 3 })
    try expectClosed(manifest, in: folder)
  }

  @Test(
    "a disk that works again after the call, within the limit, costs nothing, and only the call's time counts")
  func inTime() async throws {
    let script = try SmallCall.script(4)
    let (disk, folder) = (ScriptedDisk(), TestFolder())
    let recorder = try folder.recorder(disk: disk)
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    await folder.play([script], to: recorder, until: 2)
    disk.failures = [.write: ENOSPC]
    let end = await folder.play([script], to: recorder, from: 2)
    recorder.end(script.owner, reason: .left, now: end)
    for tick in 1...50 { await recorder.advance(now: end + RoomRecorder.tick * tick) }
    disk.failures = [:]
    for tick in 51...70 { await recorder.advance(now: end + RoomRecorder.tick * tick) }
    await recorder.finish(now: end + .seconds(8))
    try FaultyCall(script: script, disk: disk, folder: folder).expectWhole()
    var all: [RecordingSummary] = []
    for await summary in recorder.summaries { all.append(summary) }
    let summary = try #require(all.first)
    #expect(summary.manifest.finished && summary.storageError == nil)
    #expect(summary.manifest.tracks.allSatisfy { $0.unwritten == 0 && $0.gapTotals["diskStalled"] == nil })
    let stalled = try #require(summary.manifest.disk?.duration)
    #expect(stalled > 1 && stalled <= 2.001)
  }

  @Test("frames that are dropped up to the end because the memory is full are a gap up to the last of them")
  func fullMemory() async throws {
    let script = try SmallCall.script(16)
    let (disk, folder) = (ScriptedDisk(), TestFolder())
    let recorder = try folder.recorder(memoryLimit: 128 << 10, disk: disk)
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    await folder.play([script], to: recorder, until: 2)
    disk.failures = [.write: ENOSPC]
    await folder.play([script], to: recorder, from: 2)
    let summary = try #require(try await finishWithBlockedDisk(recorder, at: Script.beginning + .seconds(16)).first)
    for kind in MediaKind.allCases {
      let track = try #require(summary.track(kind))
      let gap = try #require(track.gaps.last)
      #expect(track.gapTotals["diskStalled"]?.count == 1)
      #expect(gap.reason == "diskStalled" && abs(gap.start + gap.duration - 16) < 0.1, "\(gap)")
      #expect(gap.frames == script.payloads(kind == .video ? .vp8 : .opus).count - Int(track.frames))
    }
  }

  @Test("the gap at the end of a stalled recording is listed, however many gaps there are before")
  func longList() {
    var log = GapLog()
    for index in 0..<1_200 {
      log.add(MediaGap(.lost, packetsLost: 1), start: .seconds(index), duration: .milliseconds(20))
    }
    #expect(log.gaps.count == 1_000)
    log.add(MediaGap(.diskStalled, framesDropped: 9), start: .seconds(1_300), duration: .seconds(4), isListed: true)
    #expect(log.gaps.count == 1_001 && log.gaps.last?.reason == "diskStalled" && log.gaps.last?.duration == 4)
  }

  @Test("while the disk accepts nothing, the manifest counts what is written, and lists the rest as stalled")
  func growing() async throws {
    let script = try SmallCall.script(12)
    let (disk, folder) = (ScriptedDisk(), TestFolder())
    disk.sparesManifests = true
    let recorder = try folder.recorder(disk: disk)
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    await folder.play([script], to: recorder, until: 8)
    disk.failures = [.write: EIO]
    await folder.play([script], to: recorder, from: 8, until: 11.5)
    let manifest = try RecordingManifest(parsing: disk.files["anna.json"] ?? [])
    let track = try #require(manifest.tracks.first { $0.kind == "video" })
    #expect(track.frames == UInt64(BlockReader(disk.files["anna.webm"] ?? []).payloads(.vp8).count))
    #expect(track.unwritten > 1.5 && track.end + track.unwritten < 11)
    #expect((manifest.disk?.duration ?? 0) > 1)
    disk.failures = [:]
    let last = await folder.play([script], to: recorder, from: 11.5)
    for tick in 1...12 { await recorder.advance(now: last + RoomRecorder.tick * tick) }
    let whole = try #require(await recorder.finish(now: last + .seconds(2)).first)
    #expect(whole.track(.video)?.frames == 360 && whole.track(.video)?.unwritten == 0)
  }
}

/// The content of the files of a folder, read by other means than the recorder's.
struct Written {
  let videoFrames: Int
  let keyframes: Int
  let packets: Int
  let lastVideoFrame: Double
  let audioEnd: Double

  init(in folder: TestFolder, base: String = "anna") throws {
    let blocks = BlockReader(try folder.bytes("\(base).webm")).blocks.filter { $0.track == MatroskaHeader.videoNumber }
    videoFrames = blocks.count
    keyframes = blocks.count(where: \.isKeyframe)
    lastVideoFrame = Double(blocks.last?.time ?? 0) / 1_000
    packets = try OggCount(folder.bytes("\(base).ogg")).packets
    audioEnd = try Reader(path: "\(folder.path)/\(base).ogg").packets("audio").last.map { $0.time + 0.02 } ?? 0
  }

  /// Expects a track's entry to match these files.
  func expectToBe(_ track: RecordingManifest.Track, sourceLocation: SourceLocation = #_sourceLocation) {
    if track.kind == "video" {
      #expect(track.frames == UInt64(videoFrames), sourceLocation: sourceLocation)
      #expect(track.keyframes == UInt64(keyframes), sourceLocation: sourceLocation)
      #expect(abs(track.end - lastVideoFrame) < 0.06, "\(track.end) \(lastVideoFrame)", sourceLocation: sourceLocation)
    } else {
      #expect(track.frames == UInt64(packets), sourceLocation: sourceLocation)
      #expect(abs(track.end - audioEnd) < 0.04, "\(track.end) \(audioEnd)", sourceLocation: sourceLocation)
    }
  }
}
