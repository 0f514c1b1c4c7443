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

  /// Frames of a stream whose sequences follow each other, at 30 frames a second, at the times at which they are shown.
  private static func sequences(_ payloads: [ByteBuffer], of owner: ParticipantID) -> [EncodedFrame] {
    var counter = H265PictureOrderCounter()
    var sets = H265ParameterSets()
    var counts: [[Int64]] = []
    for payload in payloads {
      for unit in H265NALUnits(payload) {
        sets.insert(unit.bytes)
        guard let slice = try? H265SliceHeader(parsing: unit.bytes, sets: sets), slice.isFirst,
          let parameters = sets.sequence(for: slice.pictureParameterSetID),
          let order = counter.add(slice, parameters)
        else { continue }
        if order.beginsSequence { counts.append([]) }
        counts[counts.count - 1].append(order.count)
      }
    }
    var places: [Int64] = []
    for sequence in counts {
      let start = Int64(places.count)
      let sorted = sequence.sorted()
      places += sequence.map { start + Int64(sorted.firstIndex(of: $0) ?? 0) }
    }
    var newest = Int64.min
    return zip(payloads, places).enumerated().map { index, item in
      let (payload, place) = item
      let header = FrameHeader(parsing: payload, of: .h265)
      var frame = EncodedFrame(
        owner: owner, codec: .h265, time: MediaTime(ticks: 1_000_000 + place * 3_000, rate: 90_000), payload: payload,
        isKeyframe: header.isKeyframe, size: header.video?.size,
        arrival: Script.beginning + .milliseconds(100 + index * 33))
      frame.isReordered = place < newest
      newest = max(newest, place)
      return frame
    }
  }

  @Test(
    "a segment ends at a keyframe without pictures that refer to frames before it, if one comes soon after the limit")
  func closedGroup() async throws {
    let open = try H265Stream.make(
      size: "320x180", seconds: 2, options: "bframes=2:b-adapt=0:keyint=20:min-keyint=20:scenecut=0")
    let frames = Self.sequences(open.frames + open.frames, of: ParticipantID("anna"))
    // Keyframes at 0, 0.67, 1.33 and 2 s, of which only the last one begins anew.
    let kinds = frames.filter(\.isKeyframe).map { $0.header.video?.leading == .any }
    #expect(kinds == [false, true, true, false, true, true])
    let folder = TestFolder()
    let limit = SegmentLimit(duration: .milliseconds(1_300))
    let manifest = try #require(try await folder.record(Self.script(frames), segment: limit).first).manifest
    let track = try #require(manifest.tracks.first { $0.kind == "video" })
    #expect(track.refused == 0 && track.frames == 120 && track.decodeErrors == 0)
    let files = manifest.files.filter { $0.kind == "mkv" }
    #expect(files.count == 2 && abs(files[1].start - 2) < 0.01)
    for file in files {
      let (count, errors) = try Self.decoded("\(folder.path)/\(file.name)")
      #expect(count == 60 && errors == "", "\(file.name)")
    }
  }

  @Test("pictures that are shown before the keyframe with which a segment begins have their times in it")
  func decodableLeading() async throws {
    let stream = try H265Stream.make(
      size: "320x180", seconds: 4,
      options: "bframes=3:b-adapt=0:keyint=20:min-keyint=20:scenecut=0:open-gop=0:radl=2")
    let frames = Self.sequences(stream.frames, of: ParticipantID("anna"))
    let keyframes = frames.indices.filter { frames[$0].isKeyframe }
    try #require(keyframes.count > 3 && frames[keyframes[1] + 1].time.ticks < frames[keyframes[1]].time.ticks)
    let folder = TestFolder()
    let limit = SegmentLimit(duration: .seconds(1))
    let manifest = try #require(try await folder.record(Self.script(frames), segment: limit).first).manifest
    let track = try #require(manifest.tracks.first { $0.kind == "video" })
    #expect(track.refused == 0 && Int(track.frames) == frames.count)
    let files = manifest.files.filter { $0.kind == "mkv" }
    #expect(files.count >= 3)
    var shown: [Int64] = []
    for file in files {
      let blocks = BlockReader(try folder.bytes(file.name)).blocks.filter { $0.track == MatroskaHeader.videoNumber }
      #expect(blocks.first?.isKeyframe == true)
      shown += blocks.map { Int64((file.start * 1_000).rounded()) + $0.time }
      let (count, errors) = try Self.decoded("\(folder.path)/\(file.name)")
      #expect(count == blocks.count && errors == "", "\(file.name)")
    }
    // In decoding order, each at the time at which it is shown.
    let first = try #require(frames.first).time.ticks
    #expect(zip(shown, frames).allSatisfy { abs($0 - ($1.time.ticks - first) / 90) <= 2 })
    #expect(shown.count == frames.count)
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
