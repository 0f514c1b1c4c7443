import Media
import Recorder
import Testing

@Suite("Clocks that drift for an hour")
struct DriftTests {
  /// The result of one hour.
  struct Hour {
    /// The largest distance between audio and video that were captured together, in milliseconds, and that at the end.
    var worst = 0.0
    var atEnd = 0.0
    /// Seconds from the first frame to the last.
    var length = 0.0
    var alignment = Alignment()
    var breaks = 0
  }

  /// - Parameters:
  ///   - audio: the speed of the audio clock, which determines the recording's time.
  ///   - wallClock: the speed of the clock in the reports.
  ///   - reports: whether there are any, each with an error of up to 5 ms.
  private func hour(audio: Double, videoFrame: Double, wallClock: Double, reports: Bool, jitter: Double = 0.04) -> Hour
  {
    var sender = SimulatedSender(tracks: [
      .audio(speed: audio, spacing: 0.06, reports: reports ? 5 : nil),
      .videoFrame(speed: videoFrame, spacing: 0.1, reports: reports ? 1 : nil),
    ])
    sender.jitter = jitter
    sender.wallClockSpeed = wallClock
    sender.reportError = 0.005
    var hour = Hour()
    var apart: [Codec: Double] = [:]
    let timeline = sender.run(3_600) { codec, timestamped in
      apart[codec] = timestamped.position - timestamped.captured * audio
      hour.length = max(hour.length, timestamped.position)
      guard let first = apart[.opus], let second = apart[.vp8] else { return }
      hour.atEnd = abs(first - second) * 1_000
      hour.worst = max(hour.worst, hour.atEnd)
    }
    hour.alignment = timeline.alignment
    hour.breaks = timeline.breaks(of: .audio) + timeline.breaks(of: .video)
    return hour
  }

  @Test("a sender whose clocks all run 200 ppm fast or slow stays in sync", arguments: [1.000_2, 0.999_8])
  func allClocks(speed: Double) {
    let hour = hour(audio: speed, videoFrame: speed, wallClock: speed, reports: true)
    print("measured: all clocks \(ppm(speed)): worst \(round(hour.worst)) ms, at the end \(round(hour.atEnd)) ms apart")
    #expect(hour.worst < 40 && hour.breaks == 0)
    #expect(abs(hour.length - 3_600) < 3.6)
    #expect(hour.alignment.source == .senderReports)
  }

  @Test(
    "audio whose clock runs 200 ppm faster or slower than the video clock stays in sync", arguments: [1.000_2, 0.999_8])
  func audioOnly(speed: Double) {
    let hour = hour(audio: speed, videoFrame: 1, wallClock: 1, reports: true)
    print("measured: audio \(ppm(speed)): worst \(round(hour.worst)) ms, at the end \(round(hour.atEnd)) ms apart")
    #expect(hour.worst < 40 && hour.breaks == 0)
    #expect(abs(hour.length - 3_600) < 3.6)
  }

  @Test(
    "without reports, arrivals keep audio and video in sync, and the error is stated", arguments: [1.000_2, 0.999_8])
  func withoutReports(speed: Double) {
    let hour = hour(audio: speed, videoFrame: 1, wallClock: 1, reports: false)
    let stated = hour.alignment.error / .milliseconds(1)
    print(
      "measured: audio \(ppm(speed)), no reports: worst \(round(hour.worst)) ms, at the end \(round(hour.atEnd)) ms apart, \(round(stated)) ms stated"
    )
    #expect(hour.worst < 40 && hour.breaks == 0)
    #expect(hour.alignment.source == .arrivals)
    #expect(stated >= hour.worst * 0.9 && stated < 60)
    #expect(abs(hour.length - 3_600) < 3.6)
  }

  private func ppm(_ speed: Double) -> String { "\(Int(((speed - 1) * 1e6).rounded())) ppm" }
  private func round(_ value: Double) -> Double { (value * 10).rounded() / 10 }
}
