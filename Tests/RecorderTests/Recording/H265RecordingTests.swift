import Bitstream
import Foundation
import Media
import NIOCore
import Recorder
import TestSupport
import Testing

@Suite("Recordings of H.265")
struct H265RecordingTests {
  /// Frames of a stream at 30 frames a second, at the times at which they are shown.
  private static func frames(_ stream: H265Stream, of owner: ParticipantID) -> [EncodedFrame] {
    var counter = H265PictureOrderCounter()
    var sets = H265ParameterSets()
    var newest = Int64.min
    return stream.frames.enumerated().map { index, payload in
      var count: Int64 = 0
      for unit in H265NALUnits(payload) {
        sets.insert(unit.bytes)
        guard let slice = try? H265SliceHeader(parsing: unit.bytes, sets: sets), slice.isFirst,
          let parameters = sets.sequence(for: slice.pictureParameterSetID)
        else { continue }
        count = counter.add(slice, parameters)?.count ?? 0
      }
      let header = FrameHeader(parsing: payload, of: .h265)
      var frame = EncodedFrame(
        owner: owner, codec: .h265, time: MediaTime(ticks: 1_000_000 + count * 3_000, rate: 90_000), payload: payload,
        isKeyframe: header.isKeyframe, size: header.video?.size,
        arrival: Script.beginning + .milliseconds(100 + index * 33))
      frame.isReordered = count < newest
      newest = max(newest, count)
      return frame
    }
  }

  private static func script(_ frames: [EncodedFrame]) -> Script {
    var script = Script("anna")
    for (index, frame) in frames.enumerated() { script.add(.frame(frame), at: 0.1 + Double(index) * 0.033) }
    return script
  }

  /// The number of frames that ffmpeg decodes of a file, and its errors.
  private static func decoded(_ path: String) throws -> (frames: Int, errors: String) {
    let result = try ExternalTool.run(
      "ffprobe",
      [
        "-v", "error", "-count_frames", "-select_streams", "v", "-show_entries", "stream=nb_read_frames", "-of",
        "csv=p=0", path,
      ])
    return (Int(result.output.filter(\.isNumber)) ?? -1, result.errors)
  }

  @Test("they are a Matroska file with the parameter sets in its header, of which other programs decode each frame")
  func whole() async throws {
    let folder = TestFolder()
    let stream = try H265Stream.make(size: "320x180", seconds: 2, options: "bframes=2:b-adapt=0:keyint=20:scenecut=0")
    let script = Self.script(Self.frames(stream, of: ParticipantID("anna")))
    let manifest = try #require(try await folder.record(script).first).manifest
    #expect(folder.names == ["anna.json", "anna.mkv"])
    let track = try #require(manifest.tracks.first { $0.kind == "video" })
    #expect(track.codec == "h265" && track.frames == 60 && track.keyframes == 3 && track.refused == 0)
    #expect(track.codecs?.map(\.profile) == ["hvc1.1.6.L60.90"])
    #expect(track.sizes?.map(\.width) == [320])
    let reader = Reader(path: "\(folder.path)/anna.mkv")
    #expect(try reader.complaints() == "")
    #expect(try reader.probe().streams.map(\.codecName) == ["hevc"])
    let found = try #require(MatroskaHeader.find(in: ByteBuffer(bytes: folder.bytes("anna.mkv"))))
    let stored = try HEVCDecoderConfiguration(parsing: try #require(found.header.video?.codecPrivate))
    let first = try #require(HEVCDecoderConfiguration(keyframe: stream.frames[0]))
    #expect(stored == first)
    #expect(try reader.mkvinfo("-a", "-v").contains("V_MPEGH/ISO/HEVC"))
    let (frames, errors) = try Self.decoded(reader.path)
    #expect(frames == 60 && errors == "")
  }

  @Test(
    "pictures that refer to frames before the first keyframe are left out, as is each of a file that begins with one")
  func leading() async throws {
    let stream = try H265Stream.make(
      size: "320x180", seconds: 4, options: "bframes=2:b-adapt=0:keyint=20:min-keyint=20:scenecut=0")
    let all = Self.frames(stream, of: ParticipantID("anna"))
    // The stream begins with its second keyframe.
    let start = try #require(all.indices.dropFirst().first { all[$0].isKeyframe })
    let frames = Array(all[start...])
    let leading = frames.prefix(4).count { $0.header.video?.isSkippedLeading ?? false }
    #expect(leading > 0)
    let folder = TestFolder()
    let script = Self.script(frames)
    let manifest = try #require(try await folder.record(script, segment: SegmentLimit(duration: .seconds(1))).first)
      .manifest
    let track = try #require(manifest.tracks.first { $0.kind == "video" })
    let files = folder.names.filter { $0.hasSuffix(".mkv") }
    #expect(Int(track.refused) == files.count * leading)
    #expect(files.count >= 2)
    var sum = 0
    for file in files {
      let blocks = BlockReader(try folder.bytes(file)).blocks.filter { $0.track == MatroskaHeader.videoNumber }
      let (count, errors) = try Self.decoded("\(folder.path)/\(file)")
      #expect(count == blocks.count && errors == "", "\(file)")
      sum += count
    }
    #expect(sum == frames.count - files.count * leading)
    #expect(Int(track.frames) == sum)
  }
}
