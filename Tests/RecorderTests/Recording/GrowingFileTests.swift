import Foundation
import Media
import Recorder
import TestSupport
import Testing

@Suite("A growing recording")
struct GrowingFileTests {
  @Test("a file that was never closed can be read up to its last second")
  func unclosed() async throws {
    let folder = TestFolder()
    let recorder = try folder.recorder()
    let script = try RecordingTests.call(6)
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    await folder.play([script], to: recorder)
    // Nothing is ended: the disk now contains what a killed program leaves.
    for name in ["anna.webm", "anna.ogg"] {
      try FileManager.default.copyItem(atPath: "\(folder.path)/\(name)", toPath: "\(folder.path)/killed-\(name)")
    }
    let webM = Reader(path: "\(folder.path)/killed-anna.webm")
    #expect(try webM.complaints() == "")
    #expect(try webM.packets("video").count >= 150)
    #expect(try webM.packets("audio").count >= 250)
    let about = try webM.mkvinfo("-a")
    #expect(about.contains("+ Cluster") && !about.contains("+ Cues"))
    let ogg = Reader(path: "\(folder.path)/killed-anna.ogg")
    #expect(try ogg.complaints() == "")
    #expect(try ogg.packets("audio").count >= 250)
    let manifest = try RecordingManifest(parsing: folder.bytes("anna.json"))
    #expect(!manifest.finished)
    #expect(manifest.files.map(\.name) == ["anna.webm", "anna.ogg"])
    await recorder.finish(now: Script.beginning + .seconds(7))
    #expect(try RecordingManifest(parsing: folder.bytes("anna.json")).endReason == .stopped)
  }

  @Test("all received media except at most the last second is on the disk", arguments: [1.55, 2.49, 3.72, 4.31, 5.03])
  func lostAtMost(moment: Double) async throws {
    let folder = TestFolder()
    let recorder = try folder.recorder()
    let script = try RecordingTests.call(6)
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    await folder.play([script], to: recorder, until: moment)
    for (name, kind) in [("anna.webm", "video"), ("anna.webm", "audio"), ("anna.ogg", "audio")] {
      let reader = Reader(path: "\(folder.path)/\(name)")
      #expect(try reader.complaints() == "")
      let last = try #require(try reader.packets(kind).last?.time)
      #expect(last > moment - 1, "\(name)")
    }
    await recorder.finish(now: Script.beginning + .seconds(moment))
  }
}
