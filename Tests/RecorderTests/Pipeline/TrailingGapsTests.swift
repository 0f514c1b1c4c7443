import Media
import NIOCore
import Recorder
import TestSupport
import Testing

@Suite("Losses at the end of a track")
struct TrailingGapsTests {
  private func packets(_ track: RecordingManifest.Track) -> UInt64 {
    track.gapTotals.values.reduce(0) { $0 + $1.packets }
  }

  private func frames(_ track: RecordingManifest.Track) -> UInt64 {
    track.gapTotals.values.reduce(0) { $0 + $1.frames }
  }

  @Test("packets that are lost after the last frame are a final gap of no length", arguments: [Codec.opus, .vp8])
  func lostAtTheEnd(codec: Codec) async throws {
    let script = try SmallCall.script(3).losing(codec, behind: 7)
    let summary = try #require(try await TestFolder().record(script).first)
    let track = try #require(summary.track(codec.kind))
    #expect(track.lost > 7 && packets(track) == track.lost && frames(track) == track.dropped)
    let last = try #require(track.gaps.last)
    #expect(last.reason == "lost" && last.packets == 7 && last.duration == 0)
    #expect(abs(last.start - track.start - track.duration) < 0.0015)
  }

  @Test("frames that are rejected up to the end are a final gap, too")
  func refusedAtTheEnd() async throws {
    let size = VideoSize(width: 64, height: 48)
    var videoFrames = try TestMedia.videoFrames(3, size: size, keyframeEvery: 30)
    videoFrames[60].payload = VideoFrameValidatorTests.keyframe(width: 4_112, height: 16)
    var script = Script()
    script.add(videoFrames, codec: .vp8)
    let summary = try #require(try await TestFolder().record(script).first)
    let track = try #require(summary.track(.video))
    #expect(track.refused == 30 && track.frames == 60)
    #expect(track.gaps == [.init(reason: "waitingForKeyframe", start: 2, duration: 0, packets: 0, frames: 30)])
  }

  @Test("packets lost before the first keyframe are in a gap, and the frames before it are not")
  func beforeTheFirst() async throws {
    let videoFrames = try TestMedia.videoFrames(3, size: VideoSize(width: 64, height: 48), keyframeEvery: 30)
    var script = Script()
    script.add(Array(videoFrames.dropFirst(5)), codec: .vp8)
    let lossy = script.losing(.vp8)
    let track = try #require(try await TestFolder().record(lossy).first?.track(.video))
    #expect(track.refused == 25 && packets(track) == track.lost && frames(track) == track.dropped)
  }

  @Test(
    "gaps add up to all packets and frames that were lost, too late or rejected, and not replaced by copies",
    arguments: 1...30)
  func sums(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let pipeline = FramePipeline(alignmentDelay: .zero, verification: nil)
    let pieces = try TestMedia.videoFrames(1, keyframeEvery: 10)
    var statistics = TrackStatistics()
    var open = MediaGap(.lost)
    for index in 0..<300 {
      let arrival = Script.beginning + .seconds(Double(index) / 30)
      var piece = pieces[index % 30]
      switch Int.random(in: 0..<10, using: &generator) {
      case 0:
        open.packetsLost += Int.random(in: 1...4, using: &generator)
        open.framesDropped += 1
        continue
      case 1: piece.payload.clear()
      default: break
      }
      pipeline.receive(
        .frame(
          EncodedFrame(
            owner: ParticipantID("anna"), codec: .vp8, time: MediaTime(ticks: Int64(index) * 3_000, rate: 90_000),
            payload: piece.payload, isKeyframe: piece.isKeyframe, arrival: arrival,
            gap: open.packetsLost > 0 ? open : nil)), now: arrival)
      statistics.packetsLost += UInt64(open.packetsLost)
      statistics.framesDropped += UInt64(open.framesDropped)
      open = MediaGap(.lost)
    }
    // Some packets that were given up arrived later, and some are lost after the last frame.
    statistics.packetsLate = UInt64.random(in: 0...3, using: &generator)
    statistics.packetsLost -= min(statistics.packetsLost, statistics.packetsLate)
    statistics.packetsLost += UInt64(open.packetsLost)
    statistics.framesDropped += UInt64(open.framesDropped)
    // Copies took the place of others, which no gap reports.
    let repaired = UInt64.random(in: 0...20, using: &generator)
    statistics.packetsLost += repaired
    statistics.repairedByRedundancy = repaired
    pipeline.receive(
      .statistics(TrackID(of: ParticipantID("alice"), kind: .video), statistics), now: Script.beginning + .seconds(10))
    pipeline.end()
    _ = pipeline.release(now: Script.beginning + .seconds(10), everything: true)
    let track = try #require(
      pipeline.tracks(clock: WallClock(moment: Script.beginning, secondsSince1970: 0)).first)
    #expect(track.refused > 0 && track.lost > 0)
    #expect(packets(track) == track.lost + track.late - repaired)
    // The very first frame may be rejected; before it there is no track.
    let refusedFirst = UInt64(pieces.count)
    #expect(frames(track) <= track.dropped + track.refused)
    #expect(frames(track) + refusedFirst >= track.dropped + track.refused)
  }
}
