import Foundation
import Media
import NIOCore
import Recorder
import TestSupport
import Testing

@Suite("Repair")
struct RepairTests {
  /// Writes a recording that was never closed.
  private func unfinished(after seconds: Double = 4, segment: SegmentLimit? = nil) async throws -> TestFolder {
    let folder = TestFolder()
    try folder.store(try await Unfinished.files(after: seconds, segment: segment))
    return folder
  }

  @Test("a repair adds cues for every keyframe and the duration up to the last frame's end, and ffmpeg can seek")
  func seekable() async throws {
    let folder = try await unfinished()
    let before = BlockReader(try folder.bytes("anna.webm"))
    let old = try OggCount(folder.bytes("anna.ogg")).packets
    let reports = RoomRecorder.repair("\(folder.path)/anna.json")
    #expect(reports.map(\.isComplete) == [true, true, true])

    let reader = Reader(path: "\(folder.path)/anna.webm")
    let after = BlockReader(try folder.bytes("anna.webm"))
    let isSame = before.blocks == after.blocks
    #expect(isSame)
    #expect(try reader.complaints("-enc_time_base", "-1") == "")
    let about = try reader.mkvinfo("-a")
    let keyframes = after.blocks.filter { $0.track == MatroskaHeader.videoNumber && $0.isKeyframe }
    #expect(about.components(separatedBy: "+ Cue point").count - 1 == keyframes.count)
    #expect(keyframes.count >= 3)
    #expect(!about.lowercased().contains("error") && !about.lowercased().contains("invalid"))
    let lastAudio = after.blocks.last { $0.track == MatroskaHeader.audioNumber }?.time ?? 0
    let lastVideoFrame = after.blocks.last { $0.track == MatroskaHeader.videoNumber }?.time ?? 0
    let end = Double(max(lastAudio + 20, lastVideoFrame + 34)) / 1_000
    #expect(abs(try reader.probe().format.seconds - end) < 0.003)
    for keyframe in keyframes { try expectSeek(to: keyframe, in: reader) }

    let ogg = Reader(path: "\(folder.path)/anna.ogg")
    let opinion = try ogg.opusinfo()
    #expect(!opinion.contains("WARNING") && !opinion.contains("ERROR"), "\(opinion)")
    #expect(try ogg.complaints() == "")
    #expect(try OggCount(folder.bytes("anna.ogg")).packets == old)

    let manifest = try RecordingManifest(parsing: folder.bytes("anna.json"))
    #expect(manifest.finished && manifest.repaired == true && manifest.files.allSatisfy(\.complete))
    #expect(abs((manifest.files.first { $0.kind == "webm" }?.duration ?? 0) - end) < 0.003)
    #expect(RoomRecorder.unfinished(in: folder.path).isEmpty)
  }

  /// Expects ffmpeg to return a keyframe when it seeks to its time.
  private func expectSeek(to keyframe: BlockReader.Block, in reader: Reader) throws {
    let result = try ExternalTool.run(
      "ffprobe",
      [
        "-v", "error", "-read_intervals", "\(Double(keyframe.time) / 1_000)%+#1", "-select_streams", "v",
        "-show_entries",
        "packet=pts_time,size,flags", "-of", "csv=p=0", reader.path,
      ])
    let first = result.output.split(separator: "\n").first.map { $0.split(separator: ",") } ?? []
    let time = first.first.flatMap { Double($0) } ?? .nan
    #expect(abs(time - Double(keyframe.time) / 1_000) < 0.000_6, "\(result.output) \(result.errors)")
    #expect(first.count > 1 && Int(first[1]) == keyframe.payload.count)
  }

  @Test("a second repair finds everything complete and changes nothing")
  func again() async throws {
    let folder = try await unfinished()
    let all = ["anna.webm", "anna.ogg"]
    _ = RoomRecorder.repair("\(folder.path)/anna.json")
    let before = try all.map(folder.bytes)
    for name in all {
      let reports = RoomRecorder.repair("\(folder.path)/\(name)")
      #expect(reports.map(\.outcome) == [.intact])
      #expect(reports.map(\.description) == ["“\(folder.path)/\(name)” was complete already."])
    }
    #expect(RoomRecorder.repair("\(folder.path)/anna.json").map(\.outcome) == [.intact])
    #expect(RoomRecorder.repair(folder.path).isEmpty)
    let isSame = try before == all.map(folder.bytes)
    #expect(isSame)
  }

  @Test("a file that is being recorded is not changed, and a sentence says why")
  func busy() async throws {
    let folder = TestFolder()
    let recorder = try folder.recorder()
    let script = try SmallCall.script(3)
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    await folder.play([script], to: recorder)
    let before = try folder.bytes("anna.webm")
    for name in ["anna.webm", "anna.ogg", "anna.json"] {
      #expect(
        RoomRecorder.repair("\(folder.path)/\(name)").map(\.description) == [
          "“\(folder.path)/\(name)” is being recorded. It was not changed."
        ])
    }
    #expect(RoomRecorder.unfinished(in: folder.path).isEmpty && RoomRecorder.repair(folder.path).isEmpty)
    let isSame = try folder.bytes("anna.webm") == before
    #expect(isSame)
    await recorder.finish(now: Script.beginning + .seconds(3))
    #expect(RoomRecorder.repair("\(folder.path)/anna.webm").map(\.outcome) == [.intact])
  }

  @Test("files can be repaired one by one, and the manifest is finished with the last of them")
  func oneByOne() async throws {
    let folder = try await unfinished(after: 7, segment: SegmentLimit(duration: .seconds(3)))
    let names = folder.names.filter { !$0.hasSuffix("json") }
    #expect(
      names == [
        "anna.0001.ogg", "anna.0001.webm", "anna.0002.ogg", "anna.0002.webm", "anna.0003.ogg", "anna.0003.webm",
      ])
    for name in names.dropLast() {
      #expect(RoomRecorder.repair("\(folder.path)/\(name)").map(\.isComplete) == [true])
    }
    #expect(RoomRecorder.unfinished(in: folder.path) == ["anna.json"])
    #expect(RoomRecorder.repair("\(folder.path)/anna.0003.webm").map(\.isComplete) == [true, true])
    let manifest = try RecordingManifest(parsing: folder.bytes("anna.json"))
    #expect(manifest.finished && manifest.files.map(\.name).sorted() == names)
    #expect(abs(manifest.duration - 7) < 1)
  }

  @Test("the repair of a folder completes all unfinished recordings and deletes their drafts")
  func wholeFolder() async throws {
    let folder = try await unfinished()
    let files = try await Unfinished.files(after: 2)
    try folder.store(
      Dictionary(uniqueKeysWithValues: files.map { ($0.replacingOccurrences(of: "anna", with: "bert"), $1) }))
    let manifest = String(decoding: try folder.bytes("bert.json"), as: UTF8.self)
    try folder.store([
      "bert.json": Array(manifest.replacingOccurrences(of: "anna", with: "bert").utf8), ".bert.json.0123abcd.part": [1],
      ".anna.webm.0123abcd.part": [2], ".carl.json.0123abcd.part": [3], "notes.json": Array("{}".utf8),
    ])
    #expect(RoomRecorder.unfinished(in: folder.path) == ["anna.json", "bert.json"])
    let reports = RoomRecorder.repair("\(folder.path)/")
    #expect(reports.count == 6 && reports.allSatisfy(\.isComplete))
    #expect(
      folder.names == [
        ".carl.json.0123abcd.part", "anna.json", "anna.ogg", "anna.webm", "bert.json", "bert.ogg", "bert.webm",
        "notes.json",
      ])
  }

  @Test("a repair that is impossible is reported in one sentence, and changes nothing")
  func rejections() async throws {
    let folder = TestFolder()
    try folder.store(["empty.webm": [], "text.webm": Array("Hello, this is text.".utf8), "a.json": Array("{}".utf8)])
    for name in ["foreign.webm", "foreign.ogg"] {
      _ = try ExternalTool.run(
        "ffmpeg", ["-v", "error", "-f", "lavfi", "-i", "sine=duration=1", "-c:a", "libopus", "\(folder.path)/\(name)"])
    }
    mkfifo("\(folder.path)/pipe.ogg", 0o600)
    let expected = [
      "empty.webm": "is empty. It was not changed.",
      "text.webm": "is neither a WebM, Matroska or Ogg file nor a recording's manifest. It was not changed.",
      "a.json": "is not a recording's manifest. It was not changed.",
      "foreign.webm": "is a WebM or Matroska file, but not a recording of this program. It was not changed.",
      "foreign.ogg": "is an Ogg file, but not a recording of this program. It was not changed.",
      "pipe.ogg": "is not a file. It was not changed.", "nothing.webm": "does not exist.",
    ]
    for (name, sentence) in expected {
      let before = name == "pipe.ogg" ? [] : (try? folder.bytes(name)) ?? []
      let reports = RoomRecorder.repair("\(folder.path)/\(name)")
      #expect(reports.map(\.description) == ["“\(folder.path)/\(name)” \(sentence)"])
      let after = name == "pipe.ogg" ? [] : (try? folder.bytes(name)) ?? []
      #expect(before.count == after.count)
    }
  }

  @Test("a repair changes nothing outside the manifest's folder, and does not follow links")
  func elsewhere() async throws {
    let folder = try await unfinished()
    let outside = try await unfinished()
    let before = try outside.bytes("anna.webm")
    var manifest = try RecordingManifest(parsing: folder.bytes("anna.json"))
    manifest.files.append(manifest.files[0])
    manifest.files[2].name = "../\(outside.path.split(separator: "/").last ?? "")/anna.webm"
    try FileManager.default.removeItem(atPath: "\(folder.path)/anna.ogg")
    try FileManager.default.createSymbolicLink(
      atPath: "\(folder.path)/anna.ogg", withDestinationPath: "\(outside.path)/anna.webm")
    try folder.store(["anna.json": Array(try manifest.json.readableBytesView)])
    let reports = RoomRecorder.repair("\(folder.path)/anna.json")
    #expect(reports.filter(\.isComplete).map(\.path) == ["\(folder.path)/anna.webm"])
    #expect(reports.contains { $0.description.contains("anna.ogg") && !$0.isComplete })
    let isUntouched = try outside.bytes("anna.webm") == before
    #expect(isUntouched)
  }

  @Test("a deleted file is reported, and the other files are completed")
  func deleted() async throws {
    let folder = try await unfinished()
    try FileManager.default.removeItem(atPath: "\(folder.path)/anna.ogg")
    let reports = RoomRecorder.repair("\(folder.path)/anna.json")
    #expect(reports.map(\.isComplete) == [true, false, true])
    #expect(reports[1].description == "“\(folder.path)/anna.ogg” does not exist.")
    #expect(RoomRecorder.unfinished(in: folder.path).isEmpty)
  }
}
