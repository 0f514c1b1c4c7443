import Codecs
import Foundation
import Media
import NIOCore
import Recorder
import TestSupport
import Testing

@Suite("Recordings of turned video")
struct OrientationTests {
  private static let size = VideoSize(width: 64, height: 48)
  private static let quarter = VideoOrientation(quarterTurns: 1)
  private static let all = (0..<8).map { VideoOrientation(quarterTurns: $0, isMirrored: $0 > 3) }

  /// Video with a keyframe every 2 s, and a tone.
  private func script(_ seconds: Double, orientation: (Int) -> VideoOrientation) throws -> Script {
    var script = Script("anna")
    script.add(try TestMedia.tone(seconds), codec: .opus)
    script.add(try TestMedia.videoFrames(seconds, size: Self.size), codec: .vp8, orientation: orientation)
    script.addReports(.opus, at: [0.5])
    script.addReports(.vp8, at: [0.6])
    return script
  }

  private func video(_ name: String, in folder: TestFolder) throws -> MatroskaHeader.Video? {
    MatroskaHeader.find(in: ByteBuffer(bytes: try folder.bytes(name)))?.header.video
  }

  private func times(_ list: [RecordingManifest.Track.Orientation]?) -> [String] {
    (list ?? []).map { "\(($0.time * 10).rounded() / 10) \($0.rotation)\($0.mirrored ? " mirrored" : "")" }
  }

  @Test(
    "when the orientation changes, the next files begin with the next keyframe, which is requested; nothing is lost")
  func change() async throws {
    let folder = TestFolder()
    let script = try script(6) { $0 < 75 ? .upright : Self.quarter }
    let recorder = try folder.recorder()
    recorder.begin(script.owner, now: Script.beginning, wallClock: TestFolder.wallClock)
    let last = await folder.play([script], to: recorder)
    let summary = try #require(await recorder.finish(now: last).first)
    let manifest = summary.manifest
    #expect(manifest.files.map(\.name) == ["anna.webm", "anna.ogg", "anna.0002.webm", "anna.0002.ogg"])
    #expect(manifest.files.allSatisfy(\.complete) && abs(manifest.files[2].start - 4) < 0.02)
    let track = try #require(manifest.tracks.first { $0.kind == "video" })
    #expect(times(track.orientations) == ["0.0 0", "2.5 90"])
    #expect(track.frames == 180 && track.refused == 0 && track.gaps.isEmpty)
    #expect(try video("anna.webm", in: folder)?.orientation == .upright)
    #expect(try video("anna.0002.webm", in: folder)?.orientation == Self.quarter)
    let payloads = try ["anna.webm", "anna.0002.webm"].flatMap { name in
      BlockReader(try folder.bytes(name)).blocks.filter { $0.track == MatroskaHeader.videoNumber }.map(\.payload)
    }
    expectSame(payloads == script.payloads(.vp8))
    // At 2.5, 3 and 3.5 s.
    let requests = await recorder.allKeyframeRequests()
    #expect((2...4).contains(requests), "\(requests)")
    #expect(summary.text.contains("64x48 upright and 1 more orientation, "))
    #expect(try RecordingManifest(parsing: folder.bytes("anna.json")) == manifest)
    for name in folder.names where !name.hasSuffix("json") {
      #expect(try Reader(path: "\(folder.path)/\(name)").complaints("-enc_time_base", "-1") == "", "\(name)")
    }
  }

  @Test("a recording that is turned from its beginning on says so, and has one file")
  func always() async throws {
    let folder = TestFolder()
    let summary = try #require(try await folder.record(try script(1) { _ in Self.all[6] }).first)
    let track = try #require(summary.manifest.tracks.first { $0.kind == "video" })
    #expect(times(track.orientations) == ["0.0 180 mirrored"] && summary.manifest.files.count == 2)
    #expect(summary.text.contains("64x48 turned by 180° and mirrored, "))
  }

  @Test("files that begin because of an orientation are 2 s apart, and a change that is taken back begins none")
  func often() async throws {
    let folder = TestFolder()
    var script = Script("anna")
    let frames = try TestMedia.videoFrames(6, size: Self.size, keyframeEvery: 10)
    script.add(frames, codec: .vp8, orientation: { $0 < 30 ? .upright : Self.all[$0 / 10 % 4] })
    let manifest = try #require(try await folder.record(script).first).manifest
    #expect(manifest.files.map { ($0.start * 10).rounded() / 10 } == [0, 1, 3, 5])
    #expect(manifest.tracks.first?.frames == 180 && manifest.tracks.first?.orientations?.count == 15 + 1)

    let other = TestFolder()
    let brief = try await other.record(try self.script(6) { (70..<100).contains($0) ? Self.quarter : .upright })
    #expect(brief.first?.manifest.files.count == 2)
    #expect(times(brief.first?.manifest.tracks.first { $0.kind == "video" }?.orientations).count == 3)
  }

  @Test("upright video has neither a projection in its files nor orientations in its manifest")
  func upright() async throws {
    let folder = TestFolder()
    let manifest = try #require(try await folder.record(try script(1) { _ in .upright }).first).manifest
    #expect(manifest.tracks.allSatisfy { $0.orientations == nil })
    let text = String(decoding: try folder.bytes("anna.json"), as: UTF8.self)
    #expect(!text.contains("orientations"))
    let head = try folder.bytes("anna.webm").prefix(Int(MatroskaHeader.length))
    #expect(!Data(head).contains([0x76, 0x70]) && MatroskaHeader.length == 512)
  }

  @Test("FFmpeg shows each orientation as this program turns it", arguments: all)
  func players(orientation: VideoOrientation) throws {
    var picture = VideoFrame(size: Self.size)
    for y in 0..<48 {
      for x in 0..<64 { picture.luma[y * 64 + x] = [40, 90, 150, 220][y / 24 * 2 + x / 32] }
    }
    var settings = VP8Encoder.Settings(size: Self.size)
    settings.bitrate = 500_000
    let encoded = try #require(try VP8Encoder(settings).encode(picture, time: 0, keyframe: true))
    let video = MatroskaHeader.Video(codec: .vp8, size: Self.size, orientation: orientation)
    var writer = MatroskaWriter(video: video, audio: nil, date: 0)
    let file = MemoryFile([])
    for write in writer.start() { try file.write(write) }
    _ = writer.add(
      MatroskaBlock(kind: .video, time: .zero, isKeyframe: true, isShown: true, payload: encoded.payload))
    for write in writer.finish() { try file.write(write) }
    #expect(MatroskaHeader.find(in: ByteBuffer(bytes: file.bytes))?.header.video == video)
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).webm")
    defer { try? FileManager.default.removeItem(at: path) }
    try Data(file.bytes).write(to: path)
    let output = path.appendingPathExtension("y")
    defer { try? FileManager.default.removeItem(at: output) }
    let result = try ExternalTool.run(
      "ffmpeg", ["-v", "error", "-i", path.path, "-frames:v", "1", "-pix_fmt", "gray", "-f", "rawvideo", output.path])
    #expect(result.status == 0 && result.errors == "")
    let shown = [UInt8](try Data(contentsOf: output))
    let turned = try picture.turned(orientation)
    try #require(shown.count == turned.luma.count)
    let width = turned.size.width
    #expect(turned.size == orientation.size(of: Self.size))
    for y in [8, turned.size.height - 8] {
      for x in [8, width - 8] {
        // FFmpeg widens the range of grey.
        let wanted = (Double(turned.luma[y * width + x]) - 16) * 255 / 219
        #expect(abs(Double(shown[y * width + x]) - wanted) < 12, "\(x), \(y)")
      }
    }
  }

  @Test("a file with a turned track that was never closed keeps its orientation when it is repaired")
  func repair() throws {
    for orientation in Self.all {
      let video = MatroskaHeader.Video(codec: .vp8, size: Self.size, orientation: orientation)
      // The header has been written before the video is known.
      for isLate in [false, true] {
        var writer = MatroskaWriter(video: isLate ? nil : video, audio: nil, date: 0)
        let file = MemoryFile([])
        for write in writer.start() { try file.write(write) }
        if isLate { for write in writer.declare(video: video) { try file.write(write) } }
        let payload = ByteBuffer(repeating: 1, count: 10)
        _ = writer.add(MatroskaBlock(kind: .video, time: .zero, isKeyframe: true, isShown: true, payload: payload))
        for write in writer.endCluster() { try file.write(write) }
        let stored = MemoryFile(file.bytes)
        guard case .repairable(let plan) = try MatroskaRepair.examine(stored) else {
          Issue.record("The file cannot be repaired.")
          return
        }
        try plan.carryOut(on: stored)
        #expect(MatroskaHeader.find(in: ByteBuffer(bytes: stored.bytes))?.header.video == video)
      }
    }
  }
}
