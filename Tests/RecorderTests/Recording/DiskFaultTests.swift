import Foundation
import Media
import Recorder
import TestSupport
import Testing

@Suite("A disk that fails")
struct DiskFaultTests {
  @Test(
    "writes or file creations that fail for 3 s are reported once, and nothing is lost",
    arguments: [(2.0, ENOSPC), (2.0, EIO), (2.0, EROFS), (0.3, ENOSPC), (0.3, EACCES), (0.3, EROFS), (0.0, EACCES)])
  func failing(begin: Double, code: Int32) async throws {
    let call = FaultyCall(script: try SmallCall.script(7), disk: ScriptedDisk(), folder: TestFolder())
    let (manifest, recorder) = try await call.record(
      from: begin, until: begin + 3,
      change: { $0.failures = begin == 2 ? [.write: code] : [.create: code, .link: code, .rename: code] },
      back: { $0.failures = [:] },
      between: {
        // Everything written before stays readable.
        try FaultyCall(script: call.script, disk: call.disk, folder: TestFolder()).expectReadable(call.disk.files)
      })
    try call.expectWhole()
    let problems = await recorder.allProblems()
    let kinds = problems.map(\.kind)
    #expect(kinds == [.stalled, .resumed], "\(problems)")
    #expect(problems.first?.sentence.contains("(error \(code))") == true)
    #expect(manifest.finished && manifest.files.allSatisfy(\.complete))
    #expect(manifest.disk?.framesDropped ?? 0 == 0 && manifest.disk?.packetsDropped ?? 0 == 0)
    if begin == 2 {
      #expect(manifest.disk?.stalls == 1)
      #expect(abs((manifest.disk?.duration ?? 0) - 3) < 1.2)
    }
    #expect(call.disk.openHandles <= 1)
  }

  @Test("short writes change nothing", arguments: [1, 7, 4_096])
  func shortWrites(most: Int) async throws {
    let script = try SmallCall.script(2)
    let disks = [ScriptedDisk(), ScriptedDisk()]
    disks[1].mostAtOnce = most
    for disk in disks {
      _ = try await FaultyCall(script: script, disk: disk, folder: TestFolder())
        .record(from: 1, until: 1, change: { _ in }, back: { _ in })
    }
    expectSame(disks[0].files["anna.webm"] == disks[1].files["anna.webm"])
    #expect(disks[0].files["anna.ogg"]?.count == disks[1].files["anna.ogg"]?.count)
  }

  @Test("a folder that becomes read-only during the call delays the next segment, and nothing is lost")
  func readOnly() async throws {
    let script = try SmallCall.script(8)
    let disk = ScriptedDisk()
    let call = FaultyCall(
      script: script, disk: disk, folder: TestFolder(), segment: SegmentLimit(duration: .seconds(2)))
    let (manifest, _) = try await call.record(
      from: 1.5, until: 5, change: { $0.failures = [.create: EROFS, .link: EROFS, .rename: EROFS] },
      back: { $0.failures = [:] })
    let webMs = disk.files.keys.filter { $0.hasSuffix("webm") }.sorted()
    #expect(webMs.count == 4)
    let blocks = webMs.map { BlockReader(disk.files[$0] ?? []) }
    expectSame(blocks.flatMap { $0.payloads(.vp8) } == script.payloads(.vp8))
    expectSame(blocks.flatMap { $0.payloads(.opus) } == script.payloads(.opus))
    #expect(manifest.finished && manifest.files.count == 8)
  }
}
