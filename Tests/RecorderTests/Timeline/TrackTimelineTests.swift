import Media
import Testing

@testable import Recorder

@Suite("Track timeline")
struct TrackTimelineTests {
  private let beginning = MonotonicInstant.now

  /// A frame as it arrives.
  private func entry(_ ticks: Int64, at seconds: Double) -> TrackTimeline.Entry {
    TrackTimeline.Entry(time: MediaTime(ticks: ticks, rate: 90_000), arrival: beginning + .seconds(seconds))
  }

  /// Adds 30 frames a second and returns the last position in seconds.
  private func length(_ seconds: Double, ticks: (Double) -> Int64) -> (seconds: Double, breaks: Int) {
    var timeline = TrackTimeline()
    var last = Duration.zero
    for index in 0..<Int(seconds * 30) {
      let at = Double(index) / 30
      let position = timeline.offset(entry(ticks(at), at: at))
      #expect(position >= last)
      last = position
    }
    return (last / .seconds(1), timeline.breaks)
  }

  @Test("the timeline follows a good clock to the tick, wherever it starts", arguments: [0, -5, Int64.max / 2])
  func goodClock(start: Int64) {
    let result = length(60) { start + Int64(($0 * 90_000).rounded()) }
    #expect(abs(result.seconds - 59.966_667) < 0.000_1)
    #expect(result.breaks == 0)
  }

  @Test("a jump of an hour adds no time", arguments: [3_600.0, -3_600])
  func jump(seconds: Double) {
    let result = length(60) { Int64(($0 * 90_000).rounded()) + ($0 > 20 ? Int64(seconds * 90_000) : 0) }
    #expect(abs(result.seconds - 59.97) < 0.05)
    #expect(result.breaks == 1)
  }

  @Test("single absurd timestamps add no time", arguments: [0, Int64.max, Int64.min, 1 << 40])
  func outlier(ticks: Int64) {
    let result = length(60) { Int64($0 * 30) % 100 == 50 ? ticks : Int64(($0 * 90_000).rounded()) + 50_000_000 }
    #expect(abs(result.seconds - 59.97) < 0.1)
  }

  @Test(
    "with a clock of 1 kHz, a stopped or a doubled one, the length is at most 5 s wrong",
    arguments: [1_000.0, 0, 180_000])
  func wrongRate(rate: Double) {
    let result = length(60) { Int64(($0 * rate).rounded()) }
    #expect(abs(result.seconds - 60) < 5.5)
    #expect(result.breaks > 0)
  }

  @Test("a pause has the length of the arrivals, although the clock stopped meanwhile")
  func pause() {
    var timeline = TrackTimeline()
    _ = timeline.offset(entry(0, at: 0))
    let after = timeline.offset(entry(3_000, at: 600))
    #expect(after == .seconds(600))
  }

  @Test("a burst after 3 s of delay keeps the sender's frame intervals")
  func burst() {
    var timeline = TrackTimeline()
    var positions: [Int64] = []
    for index in 0..<300 {
      let captured = Double(index) / 30
      let arrival = (4.0..<7.0).contains(captured) ? 7 : captured
      positions.append(timeline.offset(entry(Int64(index) * 3_000, at: arrival)).milliseconds)
    }
    #expect(zip(positions.dropFirst(), positions).allSatisfy { (33...34).contains($0 - $1) })
  }

  /// What a sender stored is retransmitted, and what it had not sent follows: late by 6 s at first.
  @Test(
    "frames that catch up after an interruption of 8 s keep their times", arguments: [4.0, 5, 7, 10.9], [1.5, 2, 30])
  func interruption(firstKept: Double, speed: Double) {
    var timeline = TrackTimeline()
    for index in 0..<1_200 {
      let captured = Double(index) / 30
      if captured >= 3, captured < firstKept { continue }
      var entry = entry(
        Int64(index) * 3_000, at: captured < 3 ? captured : max(captured, 11.2 + (captured - firstKept) / speed))
      entry.follows = captured < 3 || captured - firstKept >= 1 / 30
      #expect(abs(timeline.offset(entry) / .seconds(1) - captured) < 0.001)
    }
    #expect(timeline.breaks == 0)
  }

  @Test("a clock that stops for 8 s while a packet is lost is late for 15 s at most", arguments: [3, 20])
  func stopWithLoss(stop: Int) {
    var timeline = TrackTimeline()
    for index in 0..<1_200 {
      let arrival = Double(index) / 30 + (index < stop * 30 ? 0 : 8)
      var entry = entry(Int64(index) * 3_000, at: arrival)
      entry.follows = index != stop * 30
      let late = arrival - timeline.offset(entry) / .seconds(1)
      if arrival > Double(stop) + 23.1 { #expect(abs(late) < 0.1, "at \(arrival) s") }
    }
    #expect(timeline.breaks == 1)
  }
}
