import Bitstream
import Foundation
import Media
import NIOCore
import Recorder
import TestSupport
import Testing

@Suite("Recordings of AV1")
struct AV1RecordingTests {
  private static let size = VideoSize(width: 162, height: 90)

  /// Frames at 30 a second that ffmpeg encodes, with a keyframe each second.
  private static func videoFrames(_ seconds: Int) throws -> [TestMedia.Piece] {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).ivf")
    defer { try? FileManager.default.removeItem(at: file) }
    let result = try ExternalTool.run(
      "ffmpeg",
      [
        "-v", "error", "-f", "lavfi", "-i", "testsrc=size=\(size):rate=30", "-t", "\(seconds)", "-c:v", "libaom-av1",
        "-usage", "realtime", "-cpu-used", "8", "-g", "30", "-pix_fmt", "yuv420p", file.path,
      ])
    try #require(result.status == 0, "\(result.errors)")
    let framing = try #require(AV1Bitstream.framing(codecPrivate: []))
    var bytes = ByteBuffer(bytes: try Data(contentsOf: file))
    bytes.moveReaderIndex(forwardBy: 32)
    var pieces: [TestMedia.Piece] = []
    while let length = bytes.readInteger(endianness: .little, as: UInt32.self) {
      bytes.moveReaderIndex(forwardBy: 8)
      let read = bytes.readSlice(length: Int(length))
      let slice = try #require(read)
      let payload = try #require(framing.frame(slice))
      let header = try #require(FrameHeader(parsing: payload, of: .av1).video)
      pieces.append(
        TestMedia.Piece(
          ticks: Int64(pieces.count) * 3_000, payload: payload, isKeyframe: header.isKeyframe, size: header.size))
    }
    return pieces
  }

  @Test("they are a WebM with the sequence header in front, and each frame is decoded to verify it")
  func whole() async throws {
    let folder = TestFolder()
    var script = Script("anna")
    script.add(try TestMedia.tone(2), codec: .opus)
    script.add(try Self.videoFrames(2), codec: .av1, base: 7_000_000_000)
    script.addReports(.opus, at: [0.5])
    script.addReports(.av1, at: [0.7], base: 7_000_000_000)
    let summary = try #require(try await folder.record(script).first)
    let track = try #require(summary.manifest.tracks.first { $0.kind == "video" })
    #expect(track.codec == "av1" && track.codecs?.first?.profile?.hasPrefix("av01.0.") == true)
    #expect(track.frames == 60 && track.keyframes == 2 && track.refused == 0)
    #expect(track.decodeErrors == 0 && track.unverified == 0)
    #expect(track.sizes?.map(\.width) == [162] && track.lastDecodedSize?.height == 90)

    let reader = Reader(path: "\(folder.path)/anna.webm")
    #expect(try reader.complaints() == "")
    let probe = try reader.probe()
    #expect(probe.streams.map(\.codecName) == ["av1", "opus"])
    #expect(probe.streams[0].width == 162 && probe.streams[0].height == 90)
    let video = try reader.packets("video")
    #expect(video.count == 60 && video.filter(\.isKeyframe).count == 2)
    let info = try reader.mkvinfo("-a", "-v")
    #expect(info.contains("V_AV1") && info.lowercased().contains("codec's private data"))
  }
}
