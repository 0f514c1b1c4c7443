import Media
import Recorder
import Testing

/// A call that is recorded while the disk has a fault between two moments.
struct FaultyCall {
  let script: Script
  let disk: ScriptedDisk
  let folder: TestFolder
  var memoryLimit: Int?
  var segment: SegmentLimit?

  /// - Parameter between: runs before the fault is removed.
  func record(
    from begin: Double, until end: Double, change: (ScriptedDisk) -> Void, back: (ScriptedDisk) -> Void,
    between: () async throws -> Void = {}
  ) async throws -> (RecordingManifest, RoomRecorder) {
    let recorder = try folder.recorder(segment: segment, memoryLimit: memoryLimit, disk: disk)
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    await folder.play([script], to: recorder, until: begin)
    change(disk)
    await folder.play([script], to: recorder, from: begin, until: end)
    try await between()
    back(disk)
    let last = await folder.play([script], to: recorder, from: end)
    // The last failure is retried within a second.
    for tick in 1...12 { await recorder.advance(now: last + RoomRecorder.tick * tick) }
    let summaries = await recorder.finish(now: last + .seconds(2))
    return (try #require(summaries.first).manifest, recorder)
  }

  /// Expects files on the disk that contain every frame of the call and that other programs decode.
  func expectWhole() throws {
    let files = disk.files
    try expectReadable(files)
    let blocks = BlockReader(files["anna.webm"] ?? [])
    for codec in [Codec.opus, .vp8] { expectSame(blocks.payloads(codec) == script.payloads(codec)) }
    #expect(folder.names == ["anna.json", "anna.ogg", "anna.webm"])
  }

  func expectReadable(_ files: [String: [UInt8]]) throws {
    try folder.store(files)
    for name in folder.names where !name.hasSuffix("json") {
      let complaints = try Reader(path: "\(folder.path)/\(name)").complaints("-enc_time_base", "-1")
      #expect(complaints == "", "\(name)")
    }
  }
}
