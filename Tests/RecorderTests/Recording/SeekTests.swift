import Foundation
import Media
import Recorder
import TestSupport
import Testing

@Suite("Seeking in closed files")
struct SeekTests {
  /// Expects ffmpeg to return each keyframe when it seeks to its time, and one cue for each of them.
  private func expectSeeks(_ bytes: [UInt8], in reader: Reader) throws {
    let keyframes = BlockReader(bytes).blocks.filter { $0.track == MatroskaHeader.videoNumber && $0.isKeyframe }
    let about = try reader.mkvinfo("-a")
    #expect(about.components(separatedBy: "+ Cue point").count - 1 == keyframes.count)
    for keyframe in keyframes {
      let result = try ExternalTool.run(
        "ffprobe",
        [
          "-v", "error", "-read_intervals", "\(Double(keyframe.time) / 1_000)%+#1", "-select_streams", "v",
          "-show_entries",
          "packet=pts_time,size", "-of", "csv=p=0", reader.path,
        ])
      let first = result.output.split(separator: "\n").first.map { $0.split(separator: ",") } ?? []
      let time = first.first.flatMap { Double($0) } ?? .nan
      #expect(abs(time - Double(keyframe.time) / 1_000) < 0.000_6, "\(result.output) \(result.errors)")
      #expect(first.count > 1 && Int(first[1]) == keyframe.payload.count)
    }
  }

  @Test("players seek to every keyframe, and the file ends with the last frame, even if the video size changes")
  func everyKeyframe() async throws {
    let folder = TestFolder()
    var script = Script()
    script.add(try TestMedia.tone(6.02), codec: .opus)
    let sizes = [(64, 48), (96, 64), (48, 96)].map { VideoSize(width: $0, height: $1) }
    for (index, size) in sizes.enumerated() {
      let begin = 2 * index
      script.add(
        try TestMedia.videoFrames(2, size: size, keyframeEvery: 25), codec: .vp8, begin: Double(begin),
        base: 1_000_000 + Int64(begin) * 90_000)
    }
    script.addReports(.opus, at: [0.5])
    script.addReports(.vp8, at: [0.6])
    let manifest = try #require(try await folder.record(script).first).manifest
    let reader = Reader(path: "\(folder.path)/anna.webm")
    #expect(try reader.complaints("-enc_time_base", "-1") == "")
    try expectSeeks(try folder.bytes("anna.webm"), in: reader)
    #expect(abs(try reader.probe().format.seconds - 6.02) < 0.001)
    let stream = try reader.probe().streams[0]
    #expect(stream.width == 96 && stream.height == 96)
    let listed = manifest.tracks.first { $0.kind == "video" }?.sizes?.map {
      VideoSize(width: $0.width, height: $0.height)
    }
    #expect(listed == sizes)
  }

  /// A call whose frames between 2 s and 3 s arrive all at once, `seconds` after 3 s.
  private func recovered(after seconds: Double, isReported: Bool) throws -> Script {
    var script = Script()
    script.add(try TestMedia.tone(9), codec: .opus)
    script.add(
      try TestMedia.videoFrames(9, size: VideoSize(width: 64, height: 48), keyframeEvery: 75), codec: .vp8
    ) { index in
      // Decoding order is kept: frames after the gap wait for it as well.
      let captured = Double(index) / 30
      return captured >= 2 && captured < 3 + seconds ? 3 + seconds - captured : 0.01
    }
    script.addReports(.opus, at: [0.5])
    script.addReports(.vp8, at: [0.6])
    if isReported { script.add(.recovering(TrackID(of: ParticipantID("alice"), kind: .video)), at: 2.1) }
    return script
  }

  @Test(
    "if video is recovered late, no block or cluster goes back in time, and no cluster is longer than 1 s"
  )
  func inOrder() async throws {
    let folder = TestFolder()
    let script = try recovered(after: 1.8, isReported: true)
    _ = try await folder.record(script)
    let bytes = try folder.bytes("anna.webm")
    let reader = BlockReader(bytes)
    let times = reader.blocks.map(\.time)
    let isInOrder = times == times.sorted()
    #expect(isInOrder)
    let clusterTimes = reader.clusters.map(\.time)
    #expect(clusterTimes == clusterTimes.sorted())
    let longest = reader.clusters.map { ($0.blocks.last?.time ?? 0) - $0.time }.max() ?? 0
    #expect(longest < 1_000)
    for codec in [Codec.opus, .vp8] { expectSame(reader.payloads(codec) == script.payloads(codec)) }
    try expectSeeks(bytes, in: Reader(path: "\(folder.path)/anna.webm"))
    print("measured: video recovered 2.8 s late: blocks in order of time, the longest cluster \(longest) ms")
  }

  @Test(
    "frames that arrive later than the recorder waits keep their times, and no cluster goes back",
    arguments: [0.8, 1.8])
  func tooLate(seconds: Double) async throws {
    let folder = TestFolder()
    let script = try recovered(after: seconds, isReported: false)
    _ = try await folder.record(script)
    let reader = BlockReader(try folder.bytes("anna.webm"))
    let clusterTimes = reader.clusters.map(\.time)
    #expect(clusterTimes == clusterTimes.sorted())
    for codec in [Codec.opus, .vp8] { expectSame(reader.payloads(codec) == script.payloads(codec)) }
    let videoFrames = reader.blocks.filter { $0.track == MatroskaHeader.videoNumber }.map(\.time)
    let off = videoFrames.enumerated().map { abs($1 - Int64(($0 * 1_000 + 15) / 30)) }.max() ?? .max
    #expect(off <= 40)
    #expect(try Reader(path: "\(folder.path)/anna.webm").complaints("-enc_time_base", "-1") == "")
  }
}
