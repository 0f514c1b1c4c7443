import Codecs
import Media
import NIOCore
import Recorder
import TestSupport
import Testing

@Suite("Gaps in the manifest")
struct GapTests {
  private let clock = WallClock(moment: Script.beginning, secondsSince1970: 0)

  /// Records 30 frames a second and returns their entry.
  ///
  /// - Parameters:
  ///   - missing: the numbers of the frames that do not arrive.
  ///   - gaps: the gaps that frames report, by frame number.
  private func video(
    _ seconds: Double, missing: Range<Int> = 0..<0, gaps: [Int: MediaGap] = [:]
  ) throws -> RecordingManifest.Track {
    let pipeline = FramePipeline(alignmentDelay: .zero, verification: nil)
    let pieces = try TestMedia.videoFrames(1, keyframeEvery: 1)
    for index in 0..<Int(seconds * 30) where !missing.contains(index) {
      let arrival = Script.beginning + .seconds(Double(index) / 30)
      pipeline.receive(
        .frame(
          EncodedFrame(
            owner: ParticipantID("anna"), codec: .vp8, time: MediaTime(ticks: Int64(index) * 3_000, rate: 90_000),
            payload: pieces[index % pieces.count].payload, isKeyframe: true, arrival: arrival, gap: gaps[index])),
        now: arrival)
    }
    _ = pipeline.release(now: Script.beginning + .seconds(seconds), everything: true)
    return try #require(pipeline.tracks(clock: clock).first)
  }

  @Test(
    "a gap lies between the end of the last frame and the start of the next, with its reason",
    arguments: [
      MediaGap.Reason.lost, .waitingForKeyframe, .senderPaused, .muted, .streamEnded, .reconnect, .diskStalled,
      .memoryFull,
    ])
  func named(reason: MediaGap.Reason) throws {
    let gap = MediaGap(reason, packetsLost: 3, framesDropped: 2)
    let track = try video(4, missing: 30..<60, gaps: [60: gap])
    #expect(track.gaps == [.init(reason: reason.rawValue, start: 1, duration: 1, packets: 3, frames: 2)])
    #expect(track.gapTotals == [reason.rawValue: .init(count: 1, duration: 1, packets: 3, frames: 2)])
    #expect(track.frames == 90 && track.start == 0 && track.duration == 4)
  }

  @Test("a late frame is not missing: the gap is the wait")
  func late() throws {
    let track = try video(2, gaps: [30: MediaGap(.recoveredLate, delay: .milliseconds(180))])
    #expect(track.gaps == [.init(reason: "recoveredLate", start: 1, duration: 0.18, packets: 0, frames: 0)])
    #expect(track.duration == 2)
  }

  @Test("a pause without a reported reason is the sender's")
  func unnamed() throws {
    let track = try video(6, missing: 60..<120)
    #expect(track.gaps == [.init(reason: "senderPaused", start: 2, duration: 2, packets: 0, frames: 0)])
    #expect(try video(6, missing: 60..<80).gaps.isEmpty)
  }

  @Test("a gap right before the last frame does not make the recording longer")
  func lastVideoFrame() throws {
    let track = try video(4, missing: 30..<119, gaps: [119: MediaGap(.muted)])
    #expect(track.duration == 4)
  }

  @Test("at most 1,000 gaps are listed, and the totals include all")
  func bounded() {
    var log = GapLog()
    for index in 0..<1_500 {
      log.add(MediaGap(.lost, packetsLost: 2), start: .seconds(index), duration: .milliseconds(20))
    }
    #expect(log.gaps.count == 1_000)
    #expect(log.totals["lost"] == .init(count: 1_500, duration: 30, packets: 3_000, frames: 0))
  }

  @Test("a silence with comfort noise in it is one gap, and the next silence another")
  func silence() {
    var log = GapLog()
    for start in [1_000, 1_420, 1_840, 5_000] {
      log.add(MediaGap(.dtx), start: .milliseconds(start), duration: .milliseconds(400))
    }
    #expect(
      log.gaps == [
        .init(reason: "dtx", start: 1, duration: 1.24, packets: 0, frames: 0),
        .init(reason: "dtx", start: 5, duration: 0.4, packets: 0, frames: 0),
      ])
    #expect(log.totals["dtx"] == .init(count: 2, duration: 1.64, packets: 0, frames: 0))
  }

  @Test("silence that the sender skipped is distinguished from a pause, without a reported reason")
  func discontinuous() throws {
    let pipeline = FramePipeline(alignmentDelay: .zero, verification: VerificationPool(threads: 0))
    let tone = try TestMedia.tone(4)
    for (index, piece) in tone.enumerated() {
      var payload = piece.payload
      // Two bytes and then nothing for 400 ms: comfort noise.
      if index == 50 || index == 70 { payload = ByteBuffer(bytes: [tone[50].payload.getInteger(at: 0) ?? 0, 0]) }
      let isSilence = (51..<90).contains(index) && index != 70
      if isSilence || (150..<175).contains(index) { continue }
      let arrival = Script.beginning + .seconds(Double(index) / 50)
      pipeline.receive(
        .frame(
          EncodedFrame(
            owner: ParticipantID("anna"), codec: .opus, time: MediaTime(ticks: piece.ticks, rate: 48_000),
            payload: payload, isKeyframe: true, arrival: arrival)), now: arrival)
    }
    _ = pipeline.release(now: Script.beginning + .seconds(4), everything: true)
    let track = try #require(pipeline.tracks(clock: clock).first)
    #expect(
      track.gaps == [
        .init(reason: "dtx", start: 1.02, duration: 0.78, packets: 0, frames: 0),
        .init(reason: "senderPaused", start: 3, duration: 0.5, packets: 0, frames: 0),
      ])
    #expect(track.frames == 137 && track.duration == 4)
    #expect(track.repairedByFEC == 0 && track.concealed == 0)
  }

  @Test(
    "a pause in which the sender's clock stood still is listed with its true length, beside a loss as well",
    arguments: [0, 2], [0.1, 0.42, 3])
  func standstill(lost: Int, length: Double) throws {
    let pipeline = FramePipeline(alignmentDelay: .zero, verification: nil)
    let owner = ParticipantID("anna")
    var script = Script()
    for (index, piece) in try TestMedia.tone(4).enumerated() where !(100..<(100 + lost)).contains(index) {
      let arrival = Double(index) / 50 + (index < 100 ? 0 : length)
      script.add(
        .frame(
          EncodedFrame(
            owner: owner, codec: .opus, time: MediaTime(ticks: piece.ticks, rate: 48_000), payload: piece.payload,
            isKeyframe: true, arrival: Script.beginning + .seconds(arrival),
            gap: index == 100 + lost && lost > 0 ? MediaGap(.lost, packetsLost: lost) : nil)), at: arrival)
    }
    script.add(try TestMedia.videoFrames(4 + length), codec: .vp8, delay: { _ in 0 })
    for (at, event) in script.inOrder {
      pipeline.receive(event, now: at)
      _ = pipeline.release(now: at)
    }
    _ = pipeline.release(now: Script.beginning + .seconds(5 + length), everything: true)
    let track = try #require(pipeline.tracks(clock: clock).first { $0.kind == "audio" })
    let pause = try #require(track.gaps.first { $0.reason == "senderPaused" })
    #expect(abs(pause.duration - length) < 0.01 && abs(pause.start - 2) < 0.05)
    #expect(track.gapTotals["senderPaused"]?.count == 1)
    let gaps = track.gaps.filter { $0.reason == "lost" }
    #expect(gaps.map(\.packets) == (lost > 0 ? [lost] : []))
    #expect(gaps.allSatisfy { abs($0.duration - 0.04) < 0.001 && $0.repaired == 0.04 })
    #expect(abs(track.duration - 4 - length) < 0.01)
  }

  @Test("frames that the gate rejects become one gap, with the frames that depend on them")
  func refused() throws {
    let pipeline = FramePipeline(alignmentDelay: .zero, verification: VerificationPool(threads: 0))
    var pieces = try TestMedia.videoFrames(3, keyframeEvery: 30)
    pieces[30].payload = VideoFrameValidatorTests.keyframe(width: 4_112, height: 16)
    for (index, piece) in pieces.enumerated() {
      let arrival = Script.beginning + .seconds(Double(index) / 30)
      pipeline.receive(
        .frame(
          EncodedFrame(
            owner: ParticipantID("anna"), codec: .vp8, time: MediaTime(ticks: piece.ticks, rate: 90_000),
            payload: piece.payload, isKeyframe: piece.isKeyframe, size: piece.size, arrival: arrival,
            gap: index == 40 ? MediaGap(.lost, packetsLost: 5, framesDropped: 1) : nil)), now: arrival)
    }
    _ = pipeline.release(now: Script.beginning + .seconds(3), everything: true)
    let track = try #require(pipeline.tracks(clock: clock).first)
    #expect(track.refused == 30 && track.frames == 60 && track.decodeErrors == 0)
    #expect(track.gaps == [.init(reason: "waitingForKeyframe", start: 1, duration: 1, packets: 5, frames: 31)])
    #expect(track.sizes?.count == 1)
  }
}
