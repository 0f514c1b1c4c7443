import Foundation
import Media
import Recorder
import TestSupport
import Testing

/// A real file system of 2 MiB.
final class SmallDisk {
  static var canBeMounted: Bool { geteuid() == 0 && FileManager.default.isExecutableFile(atPath: "/usr/bin/mount") }

  let path = FileManager.default.temporaryDirectory.appendingPathComponent("small-disk-\(UUID().uuidString)").path
  let isMounted: Bool

  init() throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    isMounted = try ExternalTool.run("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", path]).status == 0
  }

  deinit {
    if isMounted { _ = try? ExternalTool.run("umount", ["-l", path]) }
    try? FileManager.default.removeItem(atPath: path)
  }
}

@Suite("A small disk", .enabled(if: SmallDisk.canBeMounted, "Mounting a file system needs root privileges."))
struct SmallDiskTests {
  @Test("a disk that is full for 4 s leaves files that decode completely")
  func fullAndFree() async throws {
    let disk = try SmallDisk()
    guard disk.isMounted else { return print("skipped: this system does not allow mounting a tmpfs") }
    let script = try SmallCall.script(10)
    let folder = TestFolder()
    var configuration = RoomRecorder.Configuration(folder: "\(disk.path)/out", room: "100")
    configuration.usesSystemClock = false
    configuration.segment = SegmentLimit(duration: .seconds(4))
    let recorder = try RoomRecorder(configuration)
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    await folder.play([script], to: recorder, until: 2)
    // Another program uses all the space.
    let filler = "\(disk.path)/filler"
    _ = try ExternalTool.run("dd", ["if=/dev/zero", "of=\(filler)", "bs=4096"])
    await folder.play([script], to: recorder, from: 2, until: 6)
    #expect(recorder.status().first?.isStalled == true)
    for name in try FileManager.default.contentsOfDirectory(atPath: "\(disk.path)/out") where !name.hasSuffix("json") {
      #expect(try Reader(path: "\(disk.path)/out/\(name)").complaints("-enc_time_base", "-1") == "")
    }
    try FileManager.default.removeItem(atPath: filler)
    let last = await folder.play([script], to: recorder, from: 6)
    for tick in 1...12 { await recorder.advance(now: last + RoomRecorder.tick * tick) }
    let manifest = try #require(await recorder.finish(now: last + .seconds(2)).first).manifest
    #expect(manifest.finished && manifest.disk?.stalls == 1 && manifest.disk?.framesDropped == 0)
    var written: [Codec: [[UInt8]]] = [:]
    for file in manifest.files {
      let path = "\(disk.path)/out/\(file.name)"
      #expect(try Reader(path: path).complaints("-enc_time_base", "-1") == "")
      guard file.kind == "webm" else { continue }
      let blocks = BlockReader([UInt8](try Data(contentsOf: URL(fileURLWithPath: path))))
      for codec in [Codec.opus, .vp8] { written[codec, default: []] += blocks.payloads(codec) }
    }
    for codec in [Codec.opus, .vp8] { expectSame(written[codec] == script.payloads(codec)) }
    #expect(await recorder.allProblems().map(\.kind) == [.stalled, .resumed])
    print("measured: tmpfs of 2 MiB full for 4 s: no frame of \(script.payloads(.vp8).count) frames missing")
  }
}
