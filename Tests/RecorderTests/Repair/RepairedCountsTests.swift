import Foundation
import Media
import NIOCore
import Recorder
import TestSupport
import Testing

/// The tracks of a repaired manifest, whenever it was last written.
@Suite("Counts of a repaired recording")
struct RepairedCountsTests {
  /// The state of the disk when the program was killed.
  enum Fault: CaseIterable {
    /// It accepted nothing at all; then the manifest is an old one, as when a write hangs.
    case everything
    /// It accepted manifests, but no media.
    case media
    /// It was full; then there is space for the manifest.
    case full
    /// It worked.
    case none

    func apply(to disk: ScriptedDisk) {
      switch self {
      case .everything: disk.failures = [.write: EIO]
      case .media:
        disk.sparesManifests = true
        disk.failures = [.write: EIO]
      case .full: disk.fill(leaving: 100)
      case .none: break
      }
    }
  }

  /// Returns the files of a call that is killed.
  ///
  /// - Parameter back: when the disk works again; nil for never.
  private func killed(
    at seconds: Double, fault: Fault, from begin: Double, back: Double? = nil
  ) async throws -> (folder: TestFolder, script: Script) {
    let script = try SmallCall.script(14)
    let (disk, folder) = (ScriptedDisk(), TestFolder())
    let recorder = try folder.recorder(disk: disk)
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    await folder.play([script], to: recorder, until: begin)
    fault.apply(to: disk)
    await folder.play([script], to: recorder, from: begin, until: back ?? seconds)
    if let back {
      (disk.failures, disk.capacity) = ([:], .max)
      await folder.play([script], to: recorder, from: back, until: seconds)
    }
    try folder.store(disk.files)
    await recorder.finish(now: Script.beginning + .seconds(seconds), within: .milliseconds(1))
    return (folder, script)
  }

  private func manifest(in folder: TestFolder) throws -> RecordingManifest {
    try RecordingManifest(parsing: folder.bytes("anna.json"))
  }

  @Test("after a kill, whatever the state of the disk, the tracks match the files", arguments: Fault.allCases)
  func anyFault(fault: Fault) async throws {
    let (folder, script) = try await killed(at: 13, fault: fault, from: 6)
    let before = try manifest(in: folder)
    #expect(RoomRecorder.repair("\(folder.path)/anna.json").map(\.isComplete) == [true, true, true])
    let after = try manifest(in: folder)
    let written = try Written(in: folder)
    for track in after.tracks { written.expectToBe(track) }
    #expect(after.tracks.count == 2 && after.finished)
    for (track, codec) in zip(after.tracks, [Codec.opus, .vp8]) {
      if fault == .media || fault == .full {
        let newest = try #require(before.tracks.first { $0.kind == track.kind })
        #expect(abs(track.end + track.unwritten - newest.end - newest.unwritten) < 0.003 && track.unwritten > 3)
        let came = Int(track.frames) + (track.gaps.last?.frames ?? 0)
        #expect(came > script.payloads(codec).count / 14 * 9)
      } else {
        #expect(track.unwritten == 0 && track.gapTotals["diskStalled"] == nil)
      }
    }
    if fault == .none { #expect(after.tracks.allSatisfy { $0.end > 12 }) } else { #expect(before.tracks.count == 2) }
  }

  @Test("frames that were stalled when the manifest was written, but reached the file before the kill, are no gap")
  func writtenAfterAll() async throws {
    let (folder, _) = try await killed(at: 13.5, fault: .media, from: 8, back: 11.5)
    let before = try manifest(in: folder)
    #expect(before.tracks.allSatisfy { $0.unwritten > 1 })
    _ = RoomRecorder.repair(folder.path)
    let after = try manifest(in: folder)
    let written = try Written(in: folder)
    for track in after.tracks {
      written.expectToBe(track)
      #expect(track.end > 12 && track.gaps.isEmpty && track.gapTotals.isEmpty)
    }
  }

  @Test("frames that a manifest claims beyond the end of its files are a gap up to there")
  func claimed() async throws {
    let folder = TestFolder()
    try folder.store(try await Unfinished.files(after: 12))
    let before = try #require(manifest(in: folder).tracks.first { $0.kind == "video" })
    // As if the system had crashed, and not only the program.
    let whole = try folder.bytes("anna.webm")
    try folder.store(["anna.webm": Array(whole.prefix(whole.count / 2))])
    _ = RoomRecorder.repair(folder.path)
    let manifest = try manifest(in: folder)
    let track = try #require(manifest.tracks.first { $0.kind == "video" })
    try Written(in: folder).expectToBe(track)
    let gap = try #require(track.gaps.last)
    #expect(gap.reason == "diskStalled" && gap.start == track.end)
    #expect(abs(gap.start + gap.duration - before.end) < 0.01)
    #expect(UInt64(gap.frames) + track.frames == before.frames && gap.frames > 30)
    #expect(manifest.disk?.framesDropped == UInt64(gap.frames))
    #expect(track.gapTotals["diskStalled"]?.frames == UInt64(gap.frames))
  }

  @Test("a repair keeps the reason of a gap at the end, and counts the gap for that reason")
  func kept() async throws {
    let folder = TestFolder()
    try folder.store(try await Unfinished.files(after: 12))
    var manifest = try manifest(in: folder)
    let index = try #require(manifest.tracks.firstIndex { $0.kind == "video" })
    let end = manifest.tracks[index].end
    let gap = RecordingManifest.Gap(reason: "memoryFull", start: end, duration: 2, packets: 0, frames: 60)
    manifest.tracks[index].gaps.append(gap)
    manifest.tracks[index].gapTotals["memoryFull"] = .init(count: 1, duration: 2, packets: 0, frames: 60)
    let whole = try folder.bytes("anna.webm")
    let json = try manifest.json
    try folder.store(["anna.json": Array(json.readableBytesView), "anna.webm": Array(whole.prefix(whole.count / 2))])
    _ = RoomRecorder.repair(folder.path)
    let after = try self.manifest(in: folder)
    let last = try #require(after.tracks[index].gaps.last)
    #expect(last.reason == "memoryFull" && last.frames > 60)
    #expect(after.memory?.framesDropped == UInt64(last.frames) && after.disk == nil)
  }

  @Test("a manifest that was written before the first frame gets its tracks from the files")
  func noTracks() async throws {
    let folder = TestFolder()
    try folder.store(try await Unfinished.files(after: 4))
    var manifest = try manifest(in: folder)
    manifest.tracks = []
    try folder.store(["anna.json": Array(try manifest.json.readableBytesView)])
    _ = RoomRecorder.repair(folder.path)
    let after = try self.manifest(in: folder)
    #expect(after.tracks.map(\.kind) == ["audio", "video"] && after.tracks.map(\.codec) == ["opus", "vp8"])
    let written = try Written(in: folder)
    for track in after.tracks { written.expectToBe(track) }
  }

  @Test("gaps that were filled with silence in the Ogg are not counted as packets")
  func fillers() async throws {
    var script = Script("anna")
    let tone = try TestMedia.tone(1)
    script.add(tone, codec: .opus)
    script.add(tone, codec: .opus, begin: 2.4375, base: 1_000_000 + 117_000)
    let (disk, folder) = (ScriptedDisk(), TestFolder())
    let recorder = try folder.recorder(disk: disk)
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    let last = await folder.play([script], to: recorder)
    for tick in 1...40 { await recorder.advance(now: last + RoomRecorder.tick * tick) }
    try folder.store(disk.files)
    await recorder.finish(now: last + .seconds(4))
    _ = RoomRecorder.repair(folder.path)
    #expect(try OggCount(folder.bytes("anna.ogg")).packets > 105)
    #expect(try manifest(in: folder).tracks.map(\.frames) == [100])
  }

  @Test("no number in a manifest stops a repair", arguments: [1e300, -1e300, 1e19])
  func absurd(number: Double) async throws {
    let folder = TestFolder()
    try folder.store(try await Unfinished.files(after: 2))
    var manifest = try manifest(in: folder)
    for index in manifest.files.indices {
      (manifest.files[index].start, manifest.files[index].duration) = (number, number)
    }
    for index in manifest.tracks.indices {
      manifest.tracks[index].frames = .max
      manifest.tracks[index].duration = number
      manifest.tracks[index].gaps = [
        .init(reason: "diskStalled", start: number, duration: 1e300, packets: .max, frames: .max)
      ]
      manifest.tracks[index].gapTotals = [
        "diskStalled": .init(count: .max, duration: number, packets: .max, frames: .max)
      ]
    }
    try folder.store(["anna.json": Array(try manifest.json.readableBytesView)])
    #expect(RoomRecorder.repair(folder.path).count == 3)
    #expect(try self.manifest(in: folder).finished)
  }
}
