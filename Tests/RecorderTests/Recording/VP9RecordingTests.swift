import Foundation
import Media
import NIOCore
import Recorder
import TestSupport
import Testing

@Suite("Recordings of VP9")
struct VP9RecordingTests {
  private static let size = VideoSize(width: 162, height: 90)

  /// Frames at 30 a second that ffmpeg encodes, with a keyframe each second.
  private static func videoFrames(_ seconds: Int, format: String = "yuv420p") throws -> [TestMedia.Piece] {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).ivf")
    defer { try? FileManager.default.removeItem(at: file) }
    let result = try ExternalTool.run(
      "ffmpeg",
      [
        "-v", "error", "-f", "lavfi", "-i", "testsrc=size=\(size):rate=30", "-t", "\(seconds)", "-c:v", "libvpx-vp9",
        "-deadline", "realtime", "-cpu-used", "8", "-lag-in-frames", "0", "-g", "30", "-pix_fmt", format, file.path,
      ])
    try #require(result.status == 0, "\(result.errors)")
    var bytes = ByteBuffer(bytes: try Data(contentsOf: file))
    bytes.moveReaderIndex(forwardBy: 32)
    var pieces: [TestMedia.Piece] = []
    while let length = bytes.readInteger(endianness: .little, as: UInt32.self) {
      bytes.moveReaderIndex(forwardBy: 8)
      let slice = bytes.readSlice(length: Int(length))
      let payload = try #require(slice)
      let header = try #require(FrameHeader(parsing: payload, of: .vp9).video)
      pieces.append(
        TestMedia.Piece(
          ticks: Int64(pieces.count) * 3_000, payload: payload, isKeyframe: header.isKeyframe, size: header.size))
    }
    return pieces
  }

  private static func call(_ seconds: Int, format: String = "yuv420p") throws -> Script {
    var script = Script("anna")
    script.add(try TestMedia.tone(Double(seconds)), codec: .opus)
    script.add(try videoFrames(seconds, format: format), codec: .vp9, base: 7_000_000_000)
    script.addReports(.opus, at: [0.5])
    script.addReports(.vp9, at: [0.7], base: 7_000_000_000)
    return script
  }

  @Test("they are a WebM that other programs read without warnings, and each frame is decoded to verify it")
  func whole() async throws {
    let folder = TestFolder()
    let script = try Self.call(2)
    let summary = try #require(try await folder.record(script).first)
    let track = try #require(summary.manifest.tracks.first { $0.kind == "video" })
    #expect(track.codec == "vp9" && track.profile == "0")
    #expect(track.frames == 60 && track.keyframes == 2 && track.refused == 0)
    #expect(track.decodeErrors == 0 && track.unverified == 0 && track.hiddenLayers == nil)
    #expect(track.sizes?.map(\.width) == [162] && track.lastDecodedSize?.height == 90)

    let reader = Reader(path: "\(folder.path)/anna.webm")
    #expect(try reader.complaints() == "")
    let probe = try reader.probe()
    #expect(probe.streams.map(\.codecName) == ["vp9", "opus"])
    #expect(probe.streams[0].width == 162 && probe.streams[0].height == 90)
    let video = try reader.packets("video")
    #expect(video.count == 60 && video.filter(\.isKeyframe).count == 2)
    #expect(try reader.mkvinfo("-a", "-v").contains("V_VP9"))
  }

  @Test("frames of 10 bits are verified as others, and the file and the manifest state the profile")
  func tenBits() async throws {
    let folder = TestFolder()
    let summary = try #require(try await folder.record(try Self.call(1, format: "yuv420p10le")).first)
    let track = try #require(summary.manifest.tracks.first { $0.kind == "video" })
    #expect(track.codec == "vp9" && track.profile == "2" && track.codecs?.map(\.profile) == ["vp09.02.10.10"])
    #expect(track.frames == 30 && track.refused == 0 && track.decodeErrors == 0 && track.unverified == 0)
    #expect(track.lastDecodedSize?.height == 90)
    let found = try #require(MatroskaHeader.find(in: ByteBuffer(bytes: try folder.bytes("anna.webm"))))
    #expect(found.header.video?.codecPrivate == ByteBuffer(bytes: [1, 1, 2, 2, 1, 10, 3, 1, 10, 4, 1, 0]))
    let reader = Reader(path: "\(folder.path)/anna.webm")
    #expect(try reader.complaints() == "")
    #expect(try reader.packets("video").count == 30)
    #expect(try reader.mkvinfo("-a", "-v").contains("V_VP9"))
  }

  @Test("a file that was never closed keeps its codec when it is repaired")
  func repair() throws {
    let video = MatroskaHeader.Video(codec: .vp9, size: Self.size)
    var writer = MatroskaWriter(video: video, audio: nil, date: 0)
    let file = MemoryFile([])
    for write in writer.start() { try file.write(write) }
    let payload = ByteBuffer(repeating: 1, count: 10)
    _ = writer.add(MatroskaBlock(kind: .video, time: .zero, isKeyframe: true, isShown: true, payload: payload))
    for write in writer.endCluster() { try file.write(write) }
    let found = try #require(MatroskaHeader.find(in: ByteBuffer(bytes: file.bytes)))
    #expect(found.header.video == video)
    // What was written is read from a file of its own.
    let stored = MemoryFile(file.bytes)
    let written = try #require(try MatroskaRepair.writtenFrames(in: stored))
    #expect(written.codec == .vp9 && written.frames.frames == 1)
    guard case .repairable(let plan) = try MatroskaRepair.examine(stored) else {
      Issue.record("The file cannot be repaired.")
      return
    }
    try plan.carryOut(on: stored)
    #expect(MatroskaHeader.find(in: ByteBuffer(bytes: stored.bytes))?.header.video == video)
  }

  @Test(
    "a keyframe of another codec is admitted, but only once in 5 s; frames of the other codec are rejected until then")
  func otherCodec() throws {
    var validator = VideoFrameValidator()
    func frame(_ piece: TestMedia.Piece, _ codec: Codec, at second: Double) -> EncodedFrame {
      EncodedFrame(
        owner: "anna", codec: codec, time: MediaTime(ticks: piece.ticks, rate: 90_000), payload: piece.payload,
        isKeyframe: piece.isKeyframe, arrival: Script.beginning + .seconds(second))
    }
    let (vp9, vp8) = (try Self.videoFrames(1), try TestMedia.videoFrames(1))
    let first = validator.admit(frame(vp9[0], .vp9, at: 0))
    #expect(first?.size == Self.size)
    let dependent = validator.admit(frame(vp8[1], .vp8, at: 0.9))
    #expect(dependent == nil && validator.refused == 1 && validator.codec == .vp9)
    let other = validator.admit(frame(vp8[0], .vp8, at: 1))
    #expect(other?.gap == MediaGap(.waitingForKeyframe, framesDropped: 1) && validator.codec == .vp8)
    let early = validator.admit(frame(vp9[0], .vp9, at: 5.9))
    #expect(early == nil && validator.codec == .vp8)
    let referring = validator.admit(frame(vp8[1], .vp8, at: 5.95))
    #expect(referring == nil && validator.refused == 3)
    let next = validator.admit(frame(vp9[0], .vp9, at: 6))
    #expect(next?.gap == MediaGap(.waitingForKeyframe, framesDropped: 2) && validator.codec == .vp9)
  }

  @Test("a size that changes without a keyframe is listed, declared, and what the verification costs")
  func sizeOfInterFrame() throws {
    var validator = VideoFrameValidator()
    let pipeline = FramePipeline(alignmentDelay: .zero, verification: nil)
    let large = VideoSize(width: 324, height: 180)
    for (index, size) in [Self.size, large].enumerated() {
      let time = MediaTime(ticks: Int64(index) * 3_000, rate: 90_000)
      let frame = EncodedFrame(
        owner: "anna", codec: .vp9, time: time, payload: ByteBuffer(bytes: [1]),
        header: .video(VideoHeader(isKeyframe: index == 0, size: size)), isKeyframe: index == 0,
        arrived: Script.beginning)
      let admitted = validator.admit(frame)
      let checked = try #require(admitted)
      #expect(checked.isKeyframe == (index == 0) && checked.size == size)
      pipeline.receive(.frame(frame), now: Script.beginning)
    }
    _ = pipeline.release(now: Script.beginning + .seconds(1), everything: true)
    let track = try #require(
      pipeline.tracks(clock: WallClock(moment: Script.beginning, secondsSince1970: 0)).first)
    #expect(track.sizes?.map(\.width) == [162, 324] && track.keyframes == 1)
    let huge = EncodedFrame(
      owner: "anna", codec: .vp9, time: MediaTime(ticks: 6_000, rate: 90_000), payload: ByteBuffer(bytes: [1]),
      header: .video(VideoHeader(isKeyframe: false, size: VideoSize(width: 4_097, height: 16))), isKeyframe: false,
      arrived: Script.beginning)
    let rejected = validator.admit(huge)
    #expect(rejected == nil)
  }

  @Test("layers that the receiver hid are counted in the manifest, and absent if there were none", arguments: [0, 2])
  func hiddenLayers(count: Int) throws {
    let pipeline = FramePipeline(alignmentDelay: .zero, verification: nil)
    for (index, piece) in try Self.videoFrames(1).prefix(3).enumerated() {
      let header = VideoHeader(isKeyframe: index == 0, size: index == 0 ? Self.size : nil, hiddenLayers: count)
      let arrival = Script.beginning + .milliseconds(33 * index)
      pipeline.receive(
        .frame(
          EncodedFrame(
            owner: "anna", codec: .vp9, time: MediaTime(ticks: piece.ticks, rate: 90_000), payload: piece.payload,
            header: .video(header), isKeyframe: index == 0, arrived: arrival)),
        now: arrival)
    }
    _ = pipeline.release(now: Script.beginning + .seconds(1), everything: true)
    let track = try #require(
      pipeline.tracks(clock: WallClock(moment: Script.beginning, secondsSince1970: 0)).first)
    #expect(track.frames == 3 && track.hiddenLayers == (count == 0 ? nil : UInt64(3 * count)))
    let written = try JSONEncoder().encode(track)
    #expect(String(decoding: written, as: UTF8.self).contains("hiddenLayers") == (count > 0))
    #expect(try JSONDecoder().decode(RecordingManifest.Track.self, from: written) == track)
  }
}
