import Media
import NIOCore
import Recorder
import TestSupport
import Testing

@Suite("Start of a recording")
struct OriginTests {
  /// The ways in which a participant's media can start.
  enum Arrival: String, CaseIterable, Sendable {
    case audioFirst, videoFrameFirst, together, audioOnly, videoOnly
    /// The first frames are those since the last keyframe, and arrive all at once.
    case oldVideoFrames
    /// The first frame of either track is late by 200 ms.
    case lateFirst
    case withoutReports
    /// Video begins 6 s after the audio.
    case lateCamera

    func tracks(joined: Double) -> [SimulatedSender.Track] {
      var audio = SimulatedSender.Track.audio(speed: 1.000_1)
      var videoFrame = SimulatedSender.Track.videoFrame(speed: 1.000_1)
      (audio.begin, videoFrame.begin) = (joined, joined)
      (audio.delay, videoFrame.delay) = ({ _ in 0.001 }, { _ in 0.001 })
      switch self {
      case .audioFirst: videoFrame.begin += 0.73
      case .videoFrameFirst: audio.begin += 1.1
      case .together: break
      case .audioOnly: return [audio]
      case .videoOnly: return [videoFrame]
      case .oldVideoFrames:
        videoFrame.begin -= 0.4
        videoFrame.delay = { max(0.001, joined - $0) }
      case .lateFirst:
        (audio.delay, videoFrame.delay) = ({ $0 < joined + 0.01 ? 0.2 : 0.001 }, { $0 < joined + 0.01 ? 0.2 : 0.001 })
      case .withoutReports: (audio.reports, videoFrame.reports) = (nil, nil)
      case .lateCamera: videoFrame.begin += 6
      }
      return [audio, videoFrame]
    }
  }

  /// Returns by how much the time of a frame according to the manifest differs from its capture, in milliseconds.
  private func errors(_ arrival: Arrival, joined: Double, seed: UInt64, wallClock: WallClock) throws -> ClosedRange<
    Double
  > {
    var sender = SimulatedSender(tracks: arrival.tracks(joined: joined))
    sender.jitter = 0.008
    sender.generator = SeededGenerator(seed: seed)
    var positions: [(captured: Double, position: Double)] = []
    let timeline = sender.run(joined + 20) { _, timestamped in
      positions.append((timestamped.captured, timestamped.position))
    }
    let origin = try #require(timeline.origin)
    let start = wallClock.seconds(at: origin) - wallClock.seconds(at: SimulatedSender.beginning)
    let all = positions.filter { $0.captured > joined }.map { (start + $0.position - $0.captured) * 1_000 }
    return try #require(all.min())...(try #require(all.max()))
  }

  @Test("frames captured at the same moment have the same time in all recordings, to 10 ms", arguments: 1...5)
  func sideBySide(seed: UInt64) throws {
    var least = Double.infinity
    var most = -Double.infinity
    for (index, arrival) in Arrival.allCases.enumerated() {
      let joined = 1 + Double(index) * 2.37
      // Each recording reads the wall clock once, at its start.
      let clock = WallClock(
        moment: SimulatedSender.moment(joined), secondsSince1970: TestFolder.wallClock + joined)
      let range = try errors(arrival, joined: joined, seed: seed + UInt64(index) * 100, wallClock: clock)
      least = min(least, range.lowerBound)
      most = max(most, range.upperBound)
    }
    let apart = ((most - least) * 10).rounded() / 10
    print("measured: \(Arrival.allCases.count) recordings side by side: the same moment at most \(apart) ms apart")
    #expect(most - least < 10)
  }

  @Test("a wall clock that is set during the call only affects recordings that begin afterwards")
  func wallClockJump() {
    let before = WallClock(moment: SimulatedSender.moment(0), secondsSince1970: TestFolder.wallClock)
    let after = WallClock(moment: SimulatedSender.moment(60), secondsSince1970: TestFolder.wallClock + 60 + 3_600)
    // A running recording continues with the clock that it began with.
    #expect(before.text(at: SimulatedSender.moment(0)) == "2026-03-01T09:30:00.250Z")
    #expect(before.text(at: SimulatedSender.moment(90)) == "2026-03-01T09:31:30.250Z")
    #expect(before.nanosecondsSince2001(at: SimulatedSender.moment(90)) % 1_000_000_000 == 250_000_000)
    #expect(after.text(at: SimulatedSender.moment(90)) == "2026-03-01T10:31:30.250Z")
    #expect(after.seconds(at: SimulatedSender.moment(90)) - before.seconds(at: SimulatedSender.moment(90)) == 3_600)
  }

  @Test("the origin becomes more accurate for 10 s, and then stays")
  func settles() {
    var timeline = RecordingTimeline(alignmentDelay: .zero)
    func add(_ seconds: Double, delay: Double) -> MonotonicInstant? {
      let arrival = SimulatedSender.moment(seconds + delay)
      timeline.add(
        EncodedFrame(
          owner: ParticipantID("anna"), codec: .opus, time: MediaTime(ticks: Int64(seconds * 48_000), rate: 48_000),
          payload: .init(bytes: [0]), isKeyframe: true, arrival: arrival), now: arrival)
      _ = timeline.release(now: arrival)
      return timeline.origin
    }
    #expect(add(0, delay: 0.3) == SimulatedSender.moment(0.3))
    #expect(add(1, delay: 0.1) == SimulatedSender.moment(0.1))
    #expect(add(2, delay: 0.2) == SimulatedSender.moment(0.1))
    #expect(add(11, delay: 0.01) == SimulatedSender.moment(0.1))
  }
}
