import Bitstream
import FileSource
import Foundation
import Media
import NIOCore
import TestSupport
import Testing

@Suite("Codecs in Matroska")
struct MatroskaCodecTests {
  typealias W = WebMBuilder

  let folder: ScratchFolder

  init() throws {
    folder = try ScratchFolder()
  }

  private func frames(_ path: String, _ kind: MediaKind) throws -> [FileFrame] {
    let file = try StoredFile(opening: path, accepting: Set(Codec.allCases))
    let track = try #require(file.track(kind))
    let reader = try file.reader(of: track)
    var frames: [FileFrame] = []
    while let frame = try reader.next() { frames.append(frame) }
    return frames
  }

  @Test("H.264 of another program gets its parameter sets from CodecPrivate, and loses delimiters")
  func h264() throws {
    let path = folder.path("a.mkv")
    // Without parameter sets and with delimiters in the frames, as ffmpeg writes them.
    try Sample.make(
      path, "-f", "lavfi", "-i", "testsrc=size=64x48:rate=30", "-t", "2", "-c:v", "libx264", "-bf", "0", "-g", "30",
      "-pix_fmt", "yuv420p", "-x264-params", "aud=1", "-f", "matroska")
    let frames = try frames(path, .video)
    #expect(frames.count == 60 && frames.filter(\.isKeyframe).count == 2)
    #expect(frames.first?.size == VideoSize(width: 64, height: 48))
    for frame in frames {
      let types = Array(H264NALUnits(frame.payload)).map(\.type)
      #expect(!types.contains(.accessUnitDelimiter) && types.contains { $0.isSlice })
      #expect(types.contains(.sequenceParameterSet) == frame.isKeyframe)
      #expect(types.contains(.pictureParameterSet) == frame.isKeyframe)
    }
  }

  @Test("H.265 of another program gets its parameter sets from CodecPrivate, and loses delimiters")
  func h265() throws {
    let path = folder.path("a.mkv")
    try Sample.make(
      path, "-f", "lavfi", "-i", "testsrc=size=64x48:rate=30", "-t", "2", "-c:v", "libx265", "-preset", "ultrafast",
      "-pix_fmt", "yuv420p", "-x265-params", "log-level=error:bframes=0:keyint=30:scenecut=0:aud=1:pools=1", "-f",
      "matroska")
    let frames = try frames(path, .video)
    #expect(frames.count == 60 && frames.filter(\.isKeyframe).count == 2)
    #expect(frames.first?.size == VideoSize(width: 64, height: 48))
    for frame in frames {
      let types = Array(H265NALUnits(frame.payload)).map(\.type)
      #expect(!types.contains(.accessUnitDelimiter) && types.contains { $0.isSlice })
      #expect(types.count(where: \.isParameterSet) == (frame.isKeyframe ? 3 : 0))
    }
  }

  @Test("lengths of one and two bytes become lengths of four", arguments: [1, 2])
  func lengths(size: Int) throws {
    let path = folder.path("a.mkv")
    try Sample.make(
      path, "-f", "lavfi", "-i", "color=size=32x32:rate=10", "-t", "1", "-c:v", "libx264", "-bf", "0", "-preset",
      "ultrafast", "-pix_fmt", "yuv420p", "-x264-params", "repeat-headers=1", "-f", "matroska")
    let whole = try frames(path, .video)
    let first = try #require(whole.first)
    let configuration = try #require(AVCDecoderConfiguration(keyframe: first.payload))
    var record = Array(configuration.encoded.readableBytesView)
    record[4] = 0xFC | UInt8(size - 1)
    var blocks: [UInt8] = []
    for (index, frame) in whole.enumerated() {
      var payload: [UInt8] = []
      for unit in H264NALUnits(frame.payload) where unit.bytes.readableBytes < 256 {
        payload += W.bigEndian(UInt64(unit.bytes.readableBytes), bytes: size) + Array(unit.bytes.readableBytesView)
      }
      blocks += W.block(track: 1, at: Int16(index * 100), payload)
    }
    let track = W.video(codec: "V_MPEG4/ISO/AVC", extra: W.element(0x63A2, record))
    let bytes = W.header(type: "matroska") + W.segment(W.info(), W.tracks(track), W.cluster(at: 0, blocks))
    let read = try frames(try folder.write(bytes, as: "b.mkv"), .video)
    #expect(read.count == whole.count)
    for (one, other) in zip(read, whole) {
      let slices = [one, other].map { frame in
        Array(H264NALUnits(frame.payload)).filter { $0.bytes.readableBytes < 256 && $0.type.isSlice }.map(\.bytes)
      }
      #expect(slices[0] == slices[1])
    }
  }

  @Test("a track of H.264 without parameter sets is refused, and frames whose lengths do not add up are skipped")
  func broken() throws {
    let bare = W.header(type: "matroska") + W.segment(W.info(), W.tracks(W.video(codec: "V_MPEG4/ISO/AVC")))
    let path = try folder.write(bare, as: "bare.mkv")
    #expect(throws: MediaFile.ReadError.self) { try StoredFile(opening: path, accepting: Set(Codec.allCases)) }
    for bytes in [[], [0], [0, 0, 0, 9, 0x65], [0xFF, 0xFF, 0xFF, 0xFF, 0x65], [0, 0, 0, 0]] as [[UInt8]] {
      let record: [UInt8] = [1, 0x42, 0xC0, 0x0D, 0xFF, 0xE1, 0, 0]
      let track = W.video(codec: "V_MPEG4/ISO/AVC", extra: W.element(0x63A2, record))
      let file =
        W.header(type: "matroska")
        + W.segment(W.info(), W.tracks(track), W.cluster(at: 0, W.block(track: 1, at: 0, bytes)))
      let path = try folder.write(file, as: "broken.mkv")
      #expect(throws: MediaFile.ReadError.self) { try StoredFile(opening: path, accepting: Set(Codec.allCases)) }
    }
  }

  @Test(
    "G.711 and G.722 are told apart by their format tag, and long blocks become packets",
    arguments: [("pcm_mulaw", Codec.pcmu, 8_000), ("pcm_alaw", .pcma, 8_000), ("g722", .g722, 16_000)])
  func octets(name: String, codec: Codec, rate: Int) throws {
    let path = folder.path("a.mka")
    try Sample.make(
      path, "-f", "lavfi", "-i", "sine=sample_rate=\(rate)", "-t", "2", "-c:a", name, "-ac", "1", "-f", "matroska")
    let file = try StoredFile(opening: path, accepting: Set(Codec.allCases))
    let track = try #require(file.track(.audio))
    #expect(track.codec == codec && track.channels == 1 && track.skippedFrames == 0)
    let frames = try frames(path, .audio)
    #expect(frames.reduce(0) { $0 + $1.payload.readableBytes } == 16_000)
    #expect(frames.allSatisfy { $0.payload.readableBytes <= 960 })
    // Each begins where the one before it ends.
    var next: Int64 = 0
    for frame in frames {
      #expect(frame.time == next)
      next += Int64(frame.payload.readableBytes) * MediaTimebase.units(perTickOf: codec)
    }
    #expect(track.end - track.start == 2 * Int64(MediaTimebase.rate))
  }

  @Test("an unknown format of WAVE audio is named by its tag")
  func unknown() throws {
    let format: [UInt8] = [0x55, 0, 1, 0, 0x40, 0x1F, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]
    let track = W.audio(codec: "A_MS/ACM", head: format)
    let bytes = W.header(type: "matroska") + W.segment(W.info(), W.tracks(track), W.cluster(at: 0))
    let path = try folder.write(bytes, as: "a.mka")
    let error = #expect(throws: MediaFile.ReadError.self) {
      try StoredFile(opening: path, accepting: Set(Codec.allCases))
    }
    #expect(error?.description.contains("WAVE format 85") == true, "\(error?.description ?? "")")
  }
}
