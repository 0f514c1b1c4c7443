import Media
import NIOCore
import Recorder
import TestSupport
import Testing

@Suite("Tracks that begin late")
struct LateTrackTests {
  /// Returns how far video is from the audio that was captured with it, by the time of capture, in milliseconds.
  private func apart(_ tracks: [SimulatedSender.Track], seconds: Double = 30, jitter: Double = 0)
    -> (errors: [(captured: Double, error: Double)], timeline: RecordingTimeline)
  {
    var sender = SimulatedSender(tracks: tracks)
    sender.jitter = jitter
    var audio = 0.0
    var errors: [(captured: Double, error: Double)] = []
    let timeline = sender.run(seconds) { codec, timestamped in
      let error = (timestamped.position - timestamped.captured) * 1_000
      if codec == .opus { audio = error } else { errors.append((timestamped.captured, error - audio)) }
    }
    return (errors, timeline)
  }

  @Test("the running track and the late one wait for at most 400 ms")
  func lateTrackDelay() {
    var timeline = RecordingTimeline(alignmentDelay: .seconds(3))
    var released: [Codec: Double] = [:]
    var longest: [Codec: Double] = [:]
    for index in 0..<1_000 {
      let at = Double(index) / 100
      let captured = at
      if index.isMultiple(of: 2) { timeline.add(frame(.opus, captured), length: .milliseconds(20), now: moment(at)) }
      if index >= 600, index % 3 == 0 { timeline.add(frame(.vp8, captured), now: moment(at)) }
      for timestamped in timeline.release(now: moment(at)) {
        let codec = timestamped.frame.codec
        #expect((timestamped.position / .seconds(1)) >= released[codec] ?? 0)
        released[codec] = timestamped.position / .seconds(1)
        guard at > 3.1 else { continue }
        let waited = moment(at) - timestamped.frame.arrived
        longest[codec] = max(longest[codec] ?? 0, waited / .milliseconds(1))
      }
    }
    print("measured: audio waited \(longest[.opus] ?? -1) ms at most, the late video \(longest[.vp8] ?? -1) ms")
    #expect((longest[.opus] ?? 1_000) <= 401)
    #expect((longest[.vp8] ?? 1_000) <= 401)
    #expect(released[.vp8] ?? 0 > 9.7)
  }

  @Test("frames of the running track from before the late one are never held for it")
  func neverHeld() {
    var timeline = RecordingTimeline(alignmentDelay: .seconds(3))
    timeline.add(frame(.opus, 0), now: moment(0))
    #expect(timeline.release(now: moment(3)).count == 1)
    timeline.add(frame(.opus, 6), now: moment(6))
    timeline.add(frame(.vp8, 6.01), now: moment(6.01))
    #expect(timeline.release(now: moment(6.01)).map(\.frame.codec) == [.opus])
    timeline.add(frame(.opus, 6.02), now: moment(6.02))
    #expect(timeline.release(now: moment(6.4)).isEmpty)
    #expect(timeline.release(now: moment(6.41)).map(\.frame.codec) == [.vp8, .opus])
  }

  @Test("a second track that begins within the first 3 s waits no longer than the first one")
  func sharedHold() {
    var timeline = RecordingTimeline(alignmentDelay: .seconds(3))
    timeline.add(frame(.opus, 0), now: moment(0))
    timeline.add(frame(.vp8, 2.8), now: moment(2.8))
    #expect(timeline.release(now: moment(2.99)).isEmpty)
    #expect(timeline.release(now: moment(3)).count == 2)
    #expect(timeline.firstTracks == [.audio, .video])
  }

  @Test("reports that have arrived end the wait of a late track immediately")
  func reportsAtOnce() {
    let audio = SimulatedSender.Track.audio()
    var videoFrame = SimulatedSender.Track.videoFrame()
    videoFrame.begin = 10
    videoFrame.delay = { _ in 0.3 }
    let result = apart([audio, videoFrame])
    // The sender's first report is sent 300 ms after the track's first frame is captured.
    #expect(result.errors.allSatisfy { abs($0.error) < 1 })
    #expect(result.timeline.alignment.source == .senderReports)
  }

  @Test(
    "a wrong offset from arrivals is corrected within seconds of the first report",
    arguments: [0.08, 0.15, 0.3, 0.6, 2.0])
  func correction(delay: Double) throws {
    let audio = SimulatedSender.Track.audio()
    var videoFrame = SimulatedSender.Track.videoFrame(reports: nil)
    videoFrame.begin = 10
    // Arrivals cannot show that video has a longer delay.
    videoFrame.delay = { _ in 0.02 + delay }
    videoFrame.reports = 1
    var sender = SimulatedSender(tracks: [audio, videoFrame])
    sender.firstReport = delay + 1.5
    var last = 0.0
    var errors: [(captured: Double, error: Double)] = []
    var previous = -1.0
    let timeline = sender.run(40) { codec, timestamped in
      let error = (timestamped.position - timestamped.captured) * 1_000
      if codec == .opus {
        last = error
      } else {
        errors.append((timestamped.captured, error - last))
        #expect(timestamped.position >= previous)
        previous = timestamped.position
      }
    }
    let wrong = errors.filter { abs($0.error) > 40 }
    let first = try #require(wrong.first).captured
    let end = try #require(wrong.last).captured
    print(
      "measured: late video that is \(Int(delay * 1_000)) ms off is within 40 ms of the audio after \(((end - first) * 10).rounded() / 10) s"
    )
    // The first report is sent 1.5 s after the first frame; video that is far too late is corrected at half speed.
    #expect(end - first < 1.6 + 3.6 + 2 * max(0, delay - 0.5))
    #expect(abs(try #require(errors.last).error) < 1)
    #expect(timeline.alignment.error / .milliseconds(1) > delay * 900)
  }

  @Test(
    "a late track of a sender without reports is aligned by its arrivals, and the error is stated", arguments: 1...5)
  func withoutReports(seed: UInt64) throws {
    var videoFrame = SimulatedSender.Track.videoFrame(reports: nil)
    videoFrame.begin = 12
    var sender = SimulatedSender(tracks: [.audio(reports: nil), videoFrame])
    sender.jitter = 0.06
    sender.generator = SeededGenerator(seed: seed)
    var audio = 0.0
    var worst = 0.0
    let timeline = sender.run(30) { codec, timestamped in
      let error = (timestamped.position - timestamped.captured) * 1_000
      if codec == .opus { audio = error } else { worst = max(worst, abs(error - audio)) }
    }
    #expect(worst < 40)
    #expect(timeline.alignment.source == .arrivals)
    #expect(timeline.alignment.error / .milliseconds(1) >= worst)
  }

  private func moment(_ seconds: Double) -> MonotonicInstant { SimulatedSender.moment(seconds) }

  private func frame(_ codec: Codec, _ seconds: Double) -> EncodedFrame {
    EncodedFrame(
      owner: ParticipantID("anna"), codec: codec,
      time: MediaTime(ticks: Int64(seconds * Double(codec.clockRate)), rate: codec.clockRate),
      payload: ByteBuffer(bytes: [0]), isKeyframe: true, arrival: moment(seconds))
  }
}
