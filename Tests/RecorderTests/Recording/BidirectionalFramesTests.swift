import Bitstream
import Foundation
import Media
import NIOCore
import Recorder
import TestSupport
import Testing

@Suite("Recordings with B-frames")
struct BidirectionalFramesTests {
  private static let structures = ["bframes=2:b-pyramid=none", "bframes=3:b-pyramid=normal"]

  /// A video with B-frames and a tone, with sender reports.
  private static func call(_ video: [TestMedia.Piece], seconds: Double) throws -> Script {
    var script = Script("anna")
    script.add(try TestMedia.tone(seconds), codec: .opus)
    script.add(video, codec: .h264, base: 7_000_000_000, delay: TestMedia.delays(of: video))
    script.addReports(.opus, at: [0.5])
    script.addReports(.h264, at: [0.7], base: 7_000_000_000)
    return script
  }

  /// The times of the frames that ffmpeg decodes, in the order of output.
  private static func shown(_ path: String) throws -> [Double] {
    let result = try ExternalTool.run(
      "ffprobe",
      ["-v", "error", "-select_streams", "v", "-show_entries", "frame=pts_time", "-of", "csv=p=0", path])
    #expect(result.errors == "")
    return result.output.split(separator: "\n").compactMap { Double($0.prefix { $0.isNumber || $0 == "." }) }
  }

  private static func expectRegular(_ times: [Double], _ comment: String = "") {
    let steps = zip(times, times.dropFirst()).map { $1 - $0 }
    #expect(steps.allSatisfy { abs($0 - 1 / 30) <= 0.002 }, "\(comment) \(steps)")
  }

  @Test("a file has presentation times in decoding order, and others decode it in order", arguments: structures)
  func whole(structure: String) async throws {
    let folder = TestFolder()
    let video = try TestMedia.bidirectional(4, structure: structure)
    let script = try Self.call(video, seconds: 4)
    let manifest = try #require(try await folder.record(script).first).manifest
    let track = try #require(manifest.tracks.first { $0.kind == "video" })
    #expect(track.frames == 120 && track.keyframes == 4 && track.refused == 0 && track.timestampBreaks == 0)
    #expect(track.gaps.isEmpty && track.decodeErrors == 0 && track.unverified == 0)
    #expect(abs(track.duration - 4) < 0.002)

    let reader = Reader(path: "\(folder.path)/anna.mkv")
    #expect(try reader.complaints() == "")
    let packets = try reader.packets("video")
    #expect(packets.count == 120)
    #expect(packets.map { Int(($0.time * 30).rounded()) } == video.map { Int($0.ticks / 3_000) })
    #expect(abs(try reader.probe().format.seconds - 4) < 0.021)
    let shown = try Self.shown(reader.path)
    #expect(shown.count == 120)
    Self.expectRegular(shown)
    let about = try reader.mkvinfo("-a", "-v").lowercased()
    #expect(!about.contains("error") && !about.contains("invalid"))
    // The frames are stored as they came.
    let stored = BlockReader(try folder.bytes("anna.mkv")).blocks.filter { $0.track == MatroskaHeader.videoNumber }
    expectSame(stored.map(\.payload) == script.payloads(.h264))
  }

  @Test("a lost frame is a gap of its own length, and the others stay where they are")
  func loss() async throws {
    let folder = TestFolder()
    var video = try TestMedia.bidirectional(3)
    // A frame on which no other depends.
    let lost = try #require(video.indices.last { $0 < 50 && video[$0].isReordered })
    let removed = video.remove(at: lost)
    var whole = Script("anna")
    whole.add(video, codec: .h264, delay: TestMedia.delays(of: video))
    var script = Script("anna")
    for (index, (at, event)) in whole.inOrder.enumerated() {
      var event = event
      if case .frame(var frame) = event, index == lost {
        frame.gap = MediaGap(.lost, packetsLost: 2)
        event = .frame(frame)
      }
      script.add(event, at: (at - Script.beginning) / .seconds(1))
    }
    let manifest = try #require(try await folder.record(script).first).manifest
    let track = try #require(manifest.tracks.first { $0.kind == "video" })
    #expect(track.frames == 89 && track.timestampBreaks == 0)
    #expect(track.gaps.map(\.reason) == ["lost"] && track.gaps.map(\.packets) == [2])
    let shown = try Self.shown("\(folder.path)/anna.mkv")
    let places = shown.map { Int(($0 * 30).rounded()) }
    #expect(places == (0..<90).filter { $0 != Int(removed.ticks / 3_000) })
  }

  @Test("a pause of the sender is a gap, and nothing else is")
  func pause() async throws {
    let folder = TestFolder()
    let video = try TestMedia.bidirectional(4)
    var script = Script("anna")
    let first = Array(video.prefix(60))
    script.add(first, codec: .h264, delay: TestMedia.delays(of: first))
    let rest = video.dropFirst(60).map { piece in
      var piece = piece
      piece.ticks -= 180_000
      return piece
    }
    script.add(rest, codec: .h264, begin: 4, base: 1_000_000 + 360_000, delay: TestMedia.delays(of: rest))
    let manifest = try #require(try await folder.record(script).first).manifest
    let track = try #require(manifest.tracks.first { $0.kind == "video" })
    #expect(track.gaps.map(\.reason) == ["senderPaused"])
    let gap = try #require(track.gaps.first)
    #expect(abs(gap.duration - 2) < 0.15 && abs(gap.start - 2) < 0.15)
    #expect(abs(track.duration - 6) < 0.1)
  }

  @Test("at few frames a second the frames of a group are no pauses, and no broken clock")
  func slow() async throws {
    let folder = TestFolder()
    let video = try TestMedia.bidirectional(2).map { piece in
      var piece = piece
      piece.ticks *= 10
      return piece
    }
    var script = Script("anna")
    script.add(video, codec: .h264) { number in 0.01 + Double(number) / 3 - Double(video[number].ticks) / 90_000 + 0.7 }
    let manifest = try #require(try await folder.record(script).first).manifest
    let track = try #require(manifest.tracks.first { $0.kind == "video" })
    #expect(track.gaps.isEmpty && track.timestampBreaks == 0)
    let shown = try Self.shown("\(folder.path)/anna.mkv")
    #expect(shown.map { Int(($0 * 3).rounded()) } == Array(0..<60))
  }

  @Test("segments begin with keyframes, and each is complete in itself")
  func segments() async throws {
    let folder = TestFolder()
    let video = try TestMedia.bidirectional(6)
    let script = try Self.call(video, seconds: 6)
    _ = try await folder.record(script, segment: SegmentLimit(duration: .seconds(1.5)))
    let files = folder.names.filter { $0.hasSuffix(".mkv") }
    #expect(files.count == 3)
    var frames = 0
    for file in files {
      let path = "\(folder.path)/\(file)"
      #expect(try Reader(path: path).complaints() == "")
      let shown = try Self.shown(path)
      #expect(shown.first.map { $0 < 0.03 } ?? false)
      Self.expectRegular(shown, file)
      frames += shown.count
    }
    #expect(frames == 180)
  }

  @Test("a file that was cut off anywhere is repaired: its frames are in order, and it ends with the last of them")
  func repair() async throws {
    let folder = TestFolder()
    let video = try TestMedia.bidirectional(4)
    let script = try Self.call(video, seconds: 4)
    _ = try await folder.record(script)
    let bytes = try folder.bytes("anna.mkv")
    // Several frames may have the same bytes.
    let places = Dictionary(grouping: video) { Array($0.payload.readableBytesView) }
    var generator = SeededGenerator(seed: 4)
    for cut in [bytes.count - 100] + (0..<40).map({ _ in Int.random(in: 8_000..<bytes.count, using: &generator) }) {
      let file = MemoryFile(Array(bytes.prefix(cut)))
      guard (try? file.repair()) != nil else { continue }
      let blocks = BlockReader(file.bytes).blocks.filter { $0.track == MatroskaHeader.videoNumber }
      let stored = try blocks.map { block in (try #require(places[block.payload]), block.time) }
      for (frames, time) in stored {
        #expect(frames.contains { abs(Double(time) - Double($0.ticks) / 90) <= 2 })
      }
      #expect(Set(stored.map(\.1)).count == stored.count)
      let found = try #require(MatroskaHeader.find(in: ByteBuffer(bytes: file.bytes)))
      let audio = BlockReader(file.bytes).blocks.filter { $0.track == MatroskaHeader.audioNumber }.map(\.time).max()
      let last = try #require(stored.map(\.1).max())
      // At the beginning of a group it is not known what precedes its first frame.
      let isWithin = stored.last.map { $0.1 == last } ?? false
      let end = max(Double(last) + (isWithin ? 100 : 34), Double(audio ?? 0) + 20)
      let duration = try #require(found.header.duration)
      #expect(duration <= end + 2 && duration >= Double(last) + 31)
    }
  }

  @Test("frames without a known pace stay in order when video is moved towards the audio")
  func alignment() {
    let beginning = MonotonicInstant.now
    var timeline = RecordingTimeline(alignmentDelay: .seconds(1))
    var generator = SeededGenerator(seed: 8)
    let order = [2, 0, 1]
    var positions: [(place: Int, position: Duration)] = []
    var shown = 0
    for group in 0..<400 {
      for (index, place) in order.enumerated() {
        let arrival = beginning + .milliseconds(33 * (3 * group + index) + Int.random(in: 0...9, using: &generator))
        var frame = EncodedFrame(
          owner: "anna", codec: .h264, time: MediaTime(ticks: Int64(3 * group + place) * 3_000, rate: 90_000),
          payload: ByteBuffer(integer: UInt32(3 * group + place)), header: .unreadable, isKeyframe: group == 0,
          arrived: arrival)
        frame.isReordered = index > 0
        timeline.add(frame, now: arrival)
        let audio = EncodedFrame(
          owner: "anna", codec: .opus, time: MediaTime(ticks: Int64(3 * group + index) * 1_584, rate: 48_000),
          payload: ByteBuffer(bytes: [0]), header: .unreadable, isKeyframe: true, arrived: arrival)
        timeline.add(audio, length: .milliseconds(33), now: arrival)
        // The offset of the two clocks seems to jump.
        if index == 0, group.isMultiple(of: 20) {
          let error = [0, 0.3, -0.4, 1.2, -1.5][group / 20 % 5]
          for (codec, ticks) in [(Codec.opus, group * 3 * 1_584), (.h264, group * 3 * 3_000)] {
            let wallClock = 3_900_000_000 + Double(group) * 0.099 + (codec == .opus ? error : 0)
            timeline.add(
              ClockReport(
                owner: "anna", codec: codec, time: MediaTime(ticks: Int64(ticks), rate: codec.clockRate),
                ntp: UInt64(wallClock * 4_294_967_296), arrival: arrival.instant))
          }
        }
        for released in timeline.release(now: arrival) where released.frame.codec == .h264 {
          let place = released.frame.payload.getInteger(at: 0, as: UInt32.self) ?? 0
          positions.append((Int(place), released.position))
          shown += 1
        }
      }
    }
    #expect(shown > 1_000)
    #expect(timeline.alignment.correction != .zero)
    let sorted = positions.sorted { $0.place < $1.place }.map(\.position)
    #expect(zip(sorted, sorted.dropFirst()).allSatisfy { $0 < $1 })
  }

  @Test("any order of reordered frames has times of its own, within what a block can express", arguments: 0..<20)
  func writer(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var writer = MatroskaWriter(
      .matroska, video: .init(codec: .h264, size: VideoSize(width: 160, height: 120)), audio: nil, date: 0)
    let file = MemoryFile([])
    for write in writer.start() { try file.write(write) }
    var newest: Int64 = 0
    var wanted: [Int64] = []
    for index in 0..<600 {
      let isKeyframe = index % 100 == 0
      let isReordered = !isKeyframe && Bool.random(using: &generator)
      let step = Int64.random(in: 0...300, using: &generator)
      let time = isReordered ? newest - step : newest + step
      newest = max(newest, time)
      wanted.append(time)
      var block = MatroskaBlock(
        kind: .video, time: .milliseconds(time), isKeyframe: isKeyframe, isShown: true,
        payload: ByteBuffer(integer: UInt32(index)))
      block.isReordered = isReordered
      for write in writer.add(block) { try file.write(write) }
    }
    for write in writer.finish() { try file.write(write) }
    let blocks = BlockReader(file.bytes).blocks
    #expect(blocks.count == 600)
    #expect(Set(blocks.map(\.time)).count == 600)
    // Where times are taken, the next free ones are used.
    for (block, time) in zip(blocks, wanted) { #expect(block.time >= 0 && abs(block.time - max(0, time)) <= 700) }
    let duration = try #require(MatroskaHeader.find(in: ByteBuffer(bytes: file.bytes))?.header.duration)
    #expect(duration > Double(blocks.map(\.time).max() ?? 0))
  }
}
