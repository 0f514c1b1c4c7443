import Media
import NIOCore
import Recorder
import Testing

@Suite("Recording timeline")
struct RecordingTimelineTests {
  private let beginning = MonotonicInstant.now
  private let owner = ParticipantID("anna")

  private func moment(_ seconds: Double) -> MonotonicInstant {
    beginning + .microseconds(Int64((seconds * 1_000_000).rounded()))
  }

  private func frame(_ codec: Codec, at seconds: Double, arrival: Double? = nil, speed: Double = 1) -> EncodedFrame {
    let ticks = Int64((seconds * Double(codec.clockRate) * speed).rounded()) + 5_000_000
    return EncodedFrame(
      owner: owner, codec: codec, time: MediaTime(ticks: ticks, rate: codec.clockRate), payload: ByteBuffer(bytes: [0]),
      isKeyframe: true, arrival: moment(arrival ?? seconds))
  }

  private func report(
    _ codec: Codec, at seconds: Double, speed: Double = 1, wallClock: Double = 3_900_000_000, late: Double = 0
  ) -> ClockReport {
    let ticks = Int64((seconds * Double(codec.clockRate) * speed).rounded()) + 5_000_000
    return ClockReport(
      owner: owner, codec: codec, time: MediaTime(ticks: ticks, rate: codec.clockRate),
      ntp: UInt64((wallClock + seconds) * 4_294_967_296), arrival: moment(seconds + late))
  }

  @Test("frames are released as soon as both tracks have a report")
  func reportsEndTheHold() {
    var timeline = RecordingTimeline(alignmentDelay: .seconds(3))
    timeline.add(frame(.opus, at: 0), now: moment(0))
    timeline.add(frame(.vp8, at: 0.1), now: moment(0.1))
    timeline.add(report(.opus, at: 0.5))
    #expect(timeline.release(now: moment(0.5)).isEmpty)
    timeline.add(report(.vp8, at: 0.6))
    #expect(timeline.release(now: moment(0.6)).map(\.position.milliseconds) == [0, 100])
    #expect(timeline.alignment.source == .senderReports)
    #expect(timeline.origin == moment(0))
  }

  @Test("without reports, frames wait for 3 s and are then aligned by arrivals, with the error stated")
  func arrivals() {
    var timeline = RecordingTimeline(alignmentDelay: .seconds(3))
    // Audio is captured at 0 with a delay of 30 to 50 ms, video at 0.2 with a delay of 30 to 70 ms.
    for index in 0..<100 {
      let (audio, videoFrame) = (Double(index) / 50, 0.2 + Double(index) / 50)
      timeline.add(frame(.opus, at: audio, arrival: audio + 0.03 + Double(index % 3) / 100), now: moment(audio))
      timeline.add(
        frame(.vp8, at: videoFrame, arrival: videoFrame + 0.03 + Double(index % 5) / 100), now: moment(videoFrame))
    }
    #expect(timeline.release(now: moment(2.9)).isEmpty)
    let timestamped = timeline.release(now: moment(3))
    let video = timestamped.first { $0.frame.codec == .vp8 }
    #expect(video?.position.milliseconds == 200)
    #expect(timeline.alignment.source == .arrivals)
    #expect(timeline.alignment.error.milliseconds == 40)
  }

  @Test("a single track is released after 3 s")
  func single() {
    var timeline = RecordingTimeline(alignmentDelay: .seconds(3))
    for index in 0...20 { timeline.add(frame(.opus, at: Double(index) / 50), now: moment(Double(index) / 50)) }
    timeline.add(report(.opus, at: 0.5))
    #expect(timeline.release(now: moment(2.99)).isEmpty)
    #expect(timeline.release(now: moment(3)).count == 21)
    #expect(timeline.alignment.source == .single)
  }

  @Test("at the end everything is released immediately")
  func end() {
    var timeline = RecordingTimeline(alignmentDelay: .seconds(3))
    timeline.add(frame(.opus, at: 0), now: moment(0))
    timeline.add(frame(.vp8, at: 0.01), now: moment(0.01))
    #expect(timeline.release(now: moment(0.02), everything: true).count == 2)
  }

  @Test("frames of both tracks are released in order of position, although one track has more delay")
  func order() {
    var timeline = RecordingTimeline(alignmentDelay: .zero)
    var events: [(Double, EncodedFrame)] = []
    for index in 0..<100 {
      events.append((Double(index) / 50, frame(.opus, at: Double(index) / 50)))
      let captured = Double(index) / 50 + 0.001
      events.append((captured + 0.15, frame(.vp8, at: captured, arrival: captured + 0.15)))
    }
    timeline.add(report(.opus, at: 0))
    timeline.add(report(.vp8, at: 0, late: 0.1))
    var positions: [Duration] = []
    for (at, frame) in events.sorted(by: { $0.0 < $1.0 }) {
      timeline.add(frame, now: moment(at))
      // The wait for reports is over only when both have begun.
      if at > 0.2 { positions += timeline.release(now: moment(at)).map(\.position) }
    }
    #expect(positions.count > 150)
    #expect(positions == positions.sorted())
  }

  @Test("a track that pauses delays the other by at most 200 ms")
  func interleaveTimeout() {
    var timeline = RecordingTimeline(alignmentDelay: .zero)
    timeline.add(frame(.opus, at: 0), now: moment(0))
    timeline.add(frame(.vp8, at: 0), now: moment(0))
    #expect(timeline.release(now: moment(0)).count == 2)
    timeline.add(frame(.vp8, at: 1), now: moment(1))
    #expect(timeline.release(now: moment(1.19)).isEmpty)
    #expect(timeline.release(now: moment(1.2)).count == 1)
  }

  @Test(
    "frames wait for the other track's retransmission, so that both are released in order", arguments: [1.0, 3.1, 5.0])
  func recovering(seconds: Double) {
    var timeline = RecordingTimeline(alignmentDelay: .zero)
    timeline.add(frame(.opus, at: 0), now: moment(0))
    timeline.add(frame(.vp8, at: 0), now: moment(0))
    #expect(timeline.release(now: moment(0)).count == 2)
    var out: [TimestampedFrame] = []
    for index in 1...500 {
      let at = Double(index) / 50
      timeline.add(frame(.opus, at: at), now: moment(at))
      if index == 5 { timeline.recovering(.video, now: moment(at)) }
      // Frames sent after the missing packet are available when it arrives, and follow it.
      if at >= seconds { timeline.add(frame(.vp8, at: index == Int(seconds * 50) ? 0.04 : at), now: moment(at)) }
      out += timeline.release(now: moment(at))
      if at == 3 { #expect(out.isEmpty == (seconds > 3)) }
    }
    out += timeline.release(now: moment(11), everything: true)
    let inOrder = zip(out, out.dropFirst()).allSatisfy { $0.position <= $1.position }
    // The timeline does not wait for longer than 3.2 s.
    #expect(inOrder == (seconds < 3.2))
  }

  @Test("late reports correct a wrong first estimate, without a jump")
  func lateReports() {
    var timeline = RecordingTimeline(alignmentDelay: .seconds(3))
    var video: [Duration] = []
    var audio: [Duration] = []
    for index in 0..<1_000 {
      let at = Double(index) / 50
      timeline.add(frame(.opus, at: at), now: moment(at))
      // Video always has a delay of 150 ms, which arrivals cannot show.
      timeline.add(frame(.vp8, at: at, arrival: at + 0.15), now: moment(at))
      if index >= 200, index.isMultiple(of: 50) {
        timeline.add(report(.opus, at: at))
        timeline.add(report(.vp8, at: at))
      }
      for timestamped in timeline.release(now: moment(at)) {
        if timestamped.frame.codec == .vp8 {
          video.append(timestamped.position)
        } else {
          audio.append(timestamped.position)
        }
      }
    }
    let apart = zip(video, audio).map { ($0 - $1).milliseconds }
    // According to the arrivals it was 150 ms later.
    #expect(apart.first == 150 && apart.last == 0)
    #expect(timeline.alignment.source == .senderReports)
    #expect(timeline.alignment.error.milliseconds == 150)
    #expect(timeline.alignment.correction.milliseconds == -150)
    let steps = zip(video.dropFirst(), video).map { ($0 - $1).milliseconds }
    #expect(steps.allSatisfy { (18...22).contains($0) })
  }

  @Test("the timeline follows an audio clock that is 200 ppm fast or slow for an hour", arguments: [1.0002, 0.9998])
  func drift(speed: Double) {
    var timeline = RecordingTimeline(alignmentDelay: .seconds(3))
    var positions: [Codec: Duration] = [:]
    var worst: Int64 = 0
    for index in 0..<36_000 {
      let at = Double(index) / 10
      timeline.add(frame(.opus, at: at, speed: speed), now: moment(at))
      timeline.add(frame(.vp8, at: at), now: moment(at))
      if index % 50 == 7 { timeline.add(report(.opus, at: at, speed: speed)) }
      if index % 10 == 3 { timeline.add(report(.vp8, at: at)) }
      for timestamped in timeline.release(now: moment(at)) {
        positions[timestamped.frame.codec] = timestamped.position
        guard timestamped.frame.codec == .opus, let audio = positions[.opus], let video = positions[.vp8] else {
          continue
        }
        // Both were captured together, and either may be released first.
        let apart = abs((audio - video).milliseconds)
        worst = max(worst, min(apart, abs(apart - 100)))
      }
    }
    #expect(worst <= 10)
    #expect(timeline.breaks(of: .audio) == 0 && timeline.breaks(of: .video) == 0)
  }

  @Test("implausible reports are not used", arguments: [-4_000.0, -1.5, 1.5, 86_400])
  func nonsense(error: Double) {
    var timeline = RecordingTimeline(alignmentDelay: .seconds(3))
    timeline.add(frame(.opus, at: 0), now: moment(0))
    timeline.add(frame(.vp8, at: 0), now: moment(0))
    timeline.add(report(.opus, at: 0.5))
    timeline.add(report(.vp8, at: 0.5, wallClock: 3_900_000_000 + error))
    #expect(timeline.release(now: moment(0.6)).isEmpty)
    #expect(timeline.release(now: moment(3)).count == 2)
    #expect(timeline.alignment.source == .arrivals)
  }

  @Test("a report that is more than a minute older than the other track's is not used")
  func oldReport() {
    var timeline = RecordingTimeline(alignmentDelay: .seconds(3))
    timeline.add(frame(.opus, at: 0), now: moment(0))
    timeline.add(frame(.vp8, at: 0), now: moment(0))
    timeline.add(report(.opus, at: 0.5))
    timeline.add(report(.vp8, at: 0.5))
    _ = timeline.release(now: moment(0.5))
    timeline.add(report(.vp8, at: 61, wallClock: 3_900_000_000.1))
    #expect(timeline.alignment.error == .zero)
    for second in 62..<66 {
      for step in 0..<10 {
        let at = Double(second - 1) + Double(step) / 10
        timeline.add(frame(.opus, at: at), now: moment(at))
        timeline.add(frame(.vp8, at: at), now: moment(at))
      }
      timeline.add(report(.opus, at: Double(second)))
      timeline.add(report(.vp8, at: Double(second), wallClock: 3_900_000_000.1))
    }
    #expect(timeline.alignment.error > .milliseconds(90))
  }

  @Test("a sender's wall clock that is set during the call moves nothing")
  func wallClockJump() {
    var timeline = RecordingTimeline(alignmentDelay: .seconds(3))
    var apart: [Int64] = []
    var last = Duration.zero
    for index in 0..<500 {
      let at = Double(index) / 10
      timeline.add(frame(.opus, at: at), now: moment(at))
      timeline.add(frame(.vp8, at: at), now: moment(at))
      let wallClock = at < 20 ? 3_900_000_000 : 3_900_000_000 + 3_600.0
      if index % 50 == 7 { timeline.add(report(.opus, at: at, wallClock: wallClock)) }
      if index % 10 == 3 { timeline.add(report(.vp8, at: at, wallClock: wallClock)) }
      for timestamped in timeline.release(now: moment(at)) {
        if timestamped.frame.codec == .opus { apart.append((timestamped.position - last).milliseconds) }
        if timestamped.frame.codec == .vp8 { last = timestamped.position }
      }
    }
    #expect(apart.allSatisfy { $0 == 0 || $0 == 100 })
  }

  @Test("no more than 16 MiB are buffered")
  func maximumBufferedBytes() {
    var timeline = RecordingTimeline(alignmentDelay: .seconds(3))
    for index in 0..<20 {
      var large = frame(.vp8, at: Double(index) / 100)
      large.payload = ByteBuffer(repeating: 0, count: 1 << 20)
      timeline.add(large, now: moment(Double(index) / 100))
    }
    #expect(timeline.release(now: moment(0.2)).count == 20)
  }
}
