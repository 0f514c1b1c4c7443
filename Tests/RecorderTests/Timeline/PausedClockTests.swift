import Foundation
import Media
import NIOCore
import Recorder
import TestSupport
import Testing

@Suite("Senders whose clock stands still")
struct PausedClockTests {
  /// What a recording of a call shows.
  private struct Result {
    /// The largest distance between audio and video 2 s after each pause and later, and a frame's largest distance from
    /// the time of its capture then, in seconds.
    var apart = 0.0
    var off = 0.0
    /// The length of all standstills that were found, in seconds.
    var found: [Codec: Double] = [:]
    var end = 0.0
    var isMonotone = true
    var alignment = Alignment()
  }

  /// Whether to try all 1,000 schedules, rather than every tenth.
  private let isSoak = ProcessInfo.processInfo.environment["CHATBOT_SOAK"] != nil

  private func record(_ sender: SimulatedSender, seconds: Double, tolerance: (Double) -> Double) -> Result {
    var sender = sender
    var result = Result()
    var error: [Codec: (value: Double, excess: Double)] = [:]
    var last: [Codec: Double] = [:]
    var start: Double?
    let timeline = sender.run(seconds) { codec, timestamped in
      start = start ?? timestamped.captured - timestamped.position
      let wrong = timestamped.position + (start ?? 0) - timestamped.captured
      if timestamped.position < last[codec] ?? 0 { result.isMonotone = false }
      last[codec] = timestamped.position
      result.end = max(result.end, timestamped.position)
      result.found[codec, default: 0] += timestamped.standstill
      let excess = tolerance(timestamped.captured) - 0.04
      error[codec] = (wrong, excess)
      result.off = max(result.off, abs(wrong) - excess)
      guard let audio = error[.opus], let video = error[.vp8] else { return }
      result.apart = max(result.apart, abs(audio.value - video.value) - max(audio.excess, video.excess))
    }
    result.alignment = timeline.alignment
    return result
  }

  @Test(
    "after random schedules of pauses, audio and video are in step and each standstill is a gap",
    arguments: 0..<10)
  func schedules(block: UInt64) {
    var worst = (apart: 0.0, off: 0.0, found: 0.0)
    for seed in stride(from: block * 100, to: (block + 1) * 100, by: isSoak ? 1 : 10) {
      let schedule = PauseSchedule(seed: seed)
      let result = record(schedule.sender, seconds: schedule.length, tolerance: schedule.tolerance)
      let audio = abs(result.found[.opus, default: 0] - schedule.stopped(.audio))
      let video = abs(result.found[.vp8, default: 0] - schedule.stopped(.video))
      worst = (
        max(worst.apart, result.apart), max(worst.off, result.off), max(worst.found, max(audio, video))
      )
      #expect(result.isMonotone, "\(schedule)")
      #expect(result.apart <= 0.04, "\(schedule)")
      #expect(result.off <= 0.06, "\(schedule)")
      #expect(audio <= 0.06, "\(schedule)")
      #expect(video <= 0.06, "\(schedule)")
    }
    print("measured: schedules \(block): \(worst)")
  }

  @Test(
    "many short standstills are gaps of their true length in all",
    arguments: [(0.42, 8), (0.45, 10), (0.5, 6), (0.1, 20)])
  func often(length: Double, count: Int) {
    var sound = SimulatedSender.Track.audio()
    let pauses = (0..<count).map { Pause(start: 1.01 + Double($0) * (length + 0.7), length: length, stopsClock: true) }
    sound.pause(pauses)
    var sender = SimulatedSender(tracks: [sound, .videoFrame()])
    sender.jitter = 0.015
    let result = record(sender, seconds: 30) { _ in 0.04 }
    #expect(result.apart <= 0.04 && result.off <= 0.04)
    #expect(abs(result.found[.opus, default: 0] - length * Double(count)) < 0.04)
    #expect(result.found[.vp8] == 0)
    #expect(result.alignment.error < .milliseconds(40))
  }

  @Test(
    "what the network delays is never a standstill", arguments: AbsurdClockTests.Trouble.allCases, [true, false])
  func network(trouble: AbsurdClockTests.Trouble, reports: Bool) {
    var sound = SimulatedSender.Track.audio(reports: reports ? 5 : nil)
    var picture = SimulatedSender.Track.videoFrame(reports: reports ? 1 : nil)
    (sound.delay, picture.delay) = (trouble.delay, trouble.delay)
    (sound.reportDelay, picture.reportDelay) = (trouble.delay, trouble.delay)
    var sender = SimulatedSender(tracks: [sound, picture])
    sender.jitter = trouble == .jitter ? 0.3 : 0.02
    let result = record(sender, seconds: 60) { _ in 0.04 }
    #expect(result.found == [.opus: 0, .vp8: 0])
    // By arrivals alone, audio and video cannot be aligned better than the network's jitter allows.
    guard reports || trouble != .jitter else { return }
    #expect(result.off < 0.04 && result.apart < 0.04)
  }

  @Test("a wall clock that is set during the call is no standstill", arguments: [-3_600.0, -0.3, 0.3, 3_600])
  func wallClock(step: Double) {
    var sender = SimulatedSender(tracks: [.audio(), .videoFrame()])
    sender.jitter = 0.02
    sender.wallClockStep = (20, step)
    let result = record(sender, seconds: 60) { _ in 0.04 }
    #expect(result.found == [.opus: 0, .vp8: 0])
    #expect(result.off < 0.04 && result.apart < 0.04)
  }

  @Test(
    "a pause in the first seconds is found although there is nothing to compare it with yet", arguments: [0.6, 2, 4, 5])
  func early(length: Double) {
    var sound = SimulatedSender.Track.audio(reports: nil)
    sound.pause([Pause(start: 4.51, length: length, stopsClock: true)])
    var sender = SimulatedSender(tracks: [sound])
    let result = record(sender, seconds: 20) { _ in 0.04 }
    #expect(result.off <= 0.04)
    #expect(abs(result.found[.opus, default: 0] - length) < 0.04)
    sender.jitter = 0.02
    #expect(record(sender, seconds: 20) { _ in 0.04 }.off <= 0.04)
  }
}
