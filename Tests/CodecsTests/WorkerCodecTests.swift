import Bitstream
import Codecs
import Foundation
import Media
import NIOCore
import TestSupport
import Testing

@Suite("Codecs of video that only chatbot-media decodes")
struct WorkerCodecTests {
  private static let size = VideoSize(width: 128, height: 96)

  /// Frames of AV1 in the form of a call, a keyframe each second.
  private static func av1() throws -> [ByteBuffer] {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).ivf")
    defer { try? FileManager.default.removeItem(at: file) }
    let result = try ExternalTool.run(
      "ffmpeg",
      [
        "-v", "error", "-f", "lavfi", "-i", "color=gray:size=\(size):rate=30", "-t", "2", "-c:v", "libaom-av1",
        "-usage",
        "realtime", "-cpu-used", "8", "-g", "30", "-pix_fmt", "yuv420p", file.path,
      ])
    try #require(result.status == 0, "\(result.errors)")
    let framing = try #require(AV1Bitstream.framing(codecPrivate: []))
    var bytes = ByteBuffer(bytes: try Data(contentsOf: file))
    bytes.moveReaderIndex(forwardBy: 32)
    var frames: [ByteBuffer] = []
    while let length = bytes.readInteger(endianness: .little, as: UInt32.self) {
      bytes.moveReaderIndex(forwardBy: 8)
      let slice = bytes.readSlice(length: Int(length))
      let stored = try #require(slice)
      let frame = framing.frame(stored)
      frames.append(try #require(frame))
    }
    return frames
  }

  private static func frames(_ codec: Codec) throws -> [ByteBuffer] {
    codec.properties.ffmpegName == "hevc"
      ? try H265Stream.make(size: "\(size)", seconds: 2, options: "bframes=0:keyint=30:min-keyint=30:scenecut=0").frames
      : try av1()
  }

  @Test("each frame of a real encoder is decoded, with its size and its planes", arguments: [Codec.av1, .h265])
  func whole(codec: Codec) throws {
    let frames = try Self.frames(codec)
    #expect(frames.count == 60)
    let decoder = try VideoDecoder(codec)
    for (index, frame) in frames.enumerated() {
      let header = try #require(FrameHeader(parsing: frame, of: codec).video)
      #expect(header.isKeyframe == (index % 30 == 0) && header.isShown)
      #expect(header.size == (header.isKeyframe ? Self.size : nil))
      let view = try decoder.decode(frame) { [$0.size.width, $0.size.height, Int($0.brightness)] }
      let found = try #require(view)
      #expect(found[0] == Self.size.width && found[1] == Self.size.height && (30...220).contains(found[2]))
    }
    for frame in frames {
      let size = try decoder.decode(frame)
      #expect(size == Self.size)
    }
  }

  @Test("a damaged frame is an error, and the next keyframe is decoded again", arguments: [Codec.av1, .h265])
  func damaged(codec: Codec) throws {
    let frames = try Self.frames(codec)
    let decoder = try VideoDecoder(codec)
    let first = try decoder.decode(frames[0])
    #expect(first == Self.size)
    var broken = ByteBuffer()
    broken.writeBytes(frames[1].readableBytesView.prefix(frames[1].readableBytes / 2))
    #expect(throws: CodecError.self) { try decoder.decode(broken) }
    #expect(throws: CodecError.self) { try decoder.decode(ByteBuffer()) }
    let later = [try decoder.decode(frames[30]), try decoder.decode(frames[31])]
    #expect(later == [Self.size, Self.size])
  }

  @Test("a codec without an encoder says so", arguments: [Codec.av1, .h265])
  func noEncoder(codec: Codec) throws {
    let error = #expect(throws: CodecError.self) { try VideoEncoder(codec, .init(size: Self.size)) }
    #expect(error?.description.contains("\(codec.properties.name) is not encoded live") == true)
  }
}
