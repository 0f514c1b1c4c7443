import Foundation
import Media
import Recorder
import TestSupport
import Testing

/// Participants with malicious ids and names.
@Suite("Malicious names in a recording")
struct WireNameTests {
  static let names = [
    "../../escaped", "/etc/passwd", "..", ".", "", "a\u{0}b", String(repeating: "x", count: 4_096),
    String(repeating: "é", count: 4_096), "CON", "com1.webm", "аnna", "anna", "ANNA", "\u{E5}", "-rf", ".hidden",
    "~root", "$(reboot)", "a\nb", "a\u{202E}gnp", "a/../../b", "\\\\server\\share", "anna.json", "anna.0001",
    "anna.webm",
    "ａｎｎａ", "\u{200B}anna", "anna-2",
  ]

  @Test("no file is created outside the folder, and each participant has separate files that only the owner can read")
  func names() async throws {
    let outer = TestFolder()
    let folder = "\(outer.path)/a/b"
    var configuration = RoomRecorder.Configuration(folder: folder, room: "100")
    configuration.usesSystemClock = false
    configuration.alignmentDelay = .zero
    let recorder = try RoomRecorder(configuration)
    let tone = try TestMedia.tone(0.2)
    for name in Self.names + Self.names.prefix(3).map({ $0 + "\u{0}" }) {
      var script = Script(name)
      script.add(tone, codec: .opus)
      recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
      await outer.play([script], to: recorder)
    }
    let summaries = await recorder.finish(now: Script.beginning + .seconds(1))
    #expect(summaries.count == Self.names.count + 3)
    let made = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(made.count == 2 * summaries.count)
    let beside = try FileManager.default.contentsOfDirectory(atPath: "\(outer.path)/a")
    #expect(outer.names == ["a"] && beside == ["b"])
    #expect(Set(summaries.map(\.base)).count == summaries.count)
    for name in made {
      #expect(name.utf8.count <= 120 && !name.hasPrefix(".") && !name.hasPrefix("-"))
      let about = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
      #expect(
        about[.posixPermissions] as? Int == 0o600 && about[.type] as? FileAttributeType == .typeRegular, "\(name)")
    }
    let users = summaries.map(\.manifest.user)
    #expect(Set(users) == Set(summaries.map(\.participant.text)))
  }

  @Test("planted links are not followed: the next free name is used")
  func planted() async throws {
    let outer = TestFolder()
    let folder = TestFolder()
    try outer.store(["victim": [1, 2, 3]])
    try folder.store([:])
    for name in ["anna.json", "anna-2.ogg", "anna-3.webm"] {
      try FileManager.default.createSymbolicLink(
        atPath: "\(folder.path)/\(name)", withDestinationPath: "\(outer.path)/\(name == "anna.json" ? "victim" : "new")"
      )
    }
    let summary = try #require(try await folder.record(SmallCall.script(1)).first)
    #expect(summary.base == "anna-4")
    #expect(outer.names == ["victim"])
    #expect(try outer.bytes("victim") == [1, 2, 3])
  }

  @Test("two recorders in one folder use different names, and neither damages the other's files")
  func twoRecorders() async throws {
    let folder = TestFolder()
    let recorders = [try folder.recorder(), try folder.recorder()]
    let script = try SmallCall.script(2)
    for recorder in recorders { recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock) }
    async let one = TestFolder().play([script], to: recorders[0])
    async let other = TestFolder().play([script], to: recorders[1])
    let last = await max(one, other)
    var bases: Set<String> = []
    for recorder in recorders {
      let summary = try #require(await recorder.finish(now: last).first)
      bases.insert(summary.base)
      let blocks = BlockReader(try folder.bytes("\(summary.base).webm"))
      for codec in [Codec.opus, .vp8] { expectSame(blocks.payloads(codec) == script.payloads(codec)) }
      #expect(try RecordingManifest(parsing: folder.bytes("\(summary.base).json")).files == summary.manifest.files)
    }
    #expect(bases == ["anna", "anna-2"])
    #expect(folder.names == ["anna-2.json", "anna-2.ogg", "anna-2.webm", "anna.json", "anna.ogg", "anna.webm"])
  }
}
