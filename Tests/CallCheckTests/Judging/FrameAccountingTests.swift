import CallCheck
import CallCheckTestSupport
import Media
import Pattern
import TestSupport
import Testing

@Suite("Counts of the pattern's frames")
struct FrameAccountingTests {
  private func judge(_ change: (inout CallJudge.Options) -> Void = { _ in }) -> CallJudge {
    var options = CallJudge.Options(start: SyntheticCall.start, room: "100")
    options.wallClock = Double(SyntheticCall.wallClock)
    options.expected = CheckExpectation(audio: false, video: true, pattern: .returned)
    change(&options)
    return CallJudge(options)
  }

  @Test("lost, duplicate and late frame numbers are counted exactly")
  func numbers() throws {
    let videoFrames = try NumberedVideoFrames(count: 120)
    let judge = judge()
    var order = Array(0..<120)
    // 7 are lost, 3 arrive twice, 2 arrive after their successor.
    let lost: Set<Int> = [10, 30, 31, 32, 60, 99, 100]
    order.removeAll { lost.contains($0) }
    for doubled in [5, 50, 80] { order.insert(doubled, at: (order.firstIndex(of: doubled) ?? 0) + 1) }
    for late in [20, 70] {
      let position = try #require(order.firstIndex(of: late))
      order.swapAt(position, position + 1)
    }
    var time = 0.05
    for number in order {
      judge.receive(videoFrames.frame(number, at: time), from: SyntheticCall.peer, at: SyntheticCall.instant(time))
      time += 1.0 / 30
    }
    let pattern = try #require(judge.report(at: SyntheticCall.instant(time)).peers.first?.pattern)
    print(
      "measured: of 120 frames 7 lost, 3 doubled, 2 late: \(pattern.missing), \(pattern.doubled), \(pattern.reordered)"
    )
    #expect(pattern.numbersPainted == 120)
    #expect(pattern.missing == 7)
    #expect(pattern.doubled == 3)
    #expect(pattern.reordered == 2)
    #expect(pattern.framesRead == 116)
    #expect(pattern.restarts == 0)
    #expect(pattern.streamID == 3)
  }

  @Test(
    "returned frames are counted exactly under random loss", arguments: [1, 2, 3] as [UInt64])
  func returned(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let videoFrames = try NumberedVideoFrames(count: 240)
    let judge = judge()
    // The loop is closed only after the tenth frame; earlier frames do not count as missing.
    let lost = Set((12..<180).filter { _ in Int.random(in: 0..<100, using: &generator) < 5 })
    let end = 8.0
    var inputs: [(time: Double, isSent: Bool, number: Int)] = []
    for number in 0..<240 {
      let sent = videoFrames.time(number)
      inputs.append((sent, true, number))
      if number >= 10, !lost.contains(number), sent + 0.25 < end { inputs.append((sent + 0.25, false, number)) }
    }
    inputs.append((videoFrames.time(50) + 0.26, false, lost.contains(50) ? 49 : 50))
    inputs.sort { ($0.time, $0.number) < ($1.time, $1.number) }
    for input in inputs {
      let now = SyntheticCall.instant(input.time)
      let frame = videoFrames.frame(input.number, at: input.time)
      if input.isSent { judge.sent(frame, at: now) } else { judge.receive(frame, from: SyntheticCall.peer, at: now) }
    }
    let returned = try #require(judge.report(at: SyntheticCall.instant(end)).peers.first?.returned)
    // Frames of the last quarter of a second are still in flight.
    let back = (10..<240).filter { !lost.contains($0) && videoFrames.time($0) + 0.25 < end }.count
    print(
      "measured: \(lost.count) of our frames lost (seed \(seed)): \(returned.missing) missing, \(returned.returned) of "
        + "\(back) back, round trip p50 \(returned.roundTrip?.p50 ?? 9) s")
    #expect(returned.missing == lost.count)
    #expect(returned.returned == back)
    #expect(returned.sent == back + lost.count)
    #expect(returned.doubled == 1)
    #expect(abs((returned.roundTrip?.p50 ?? 9) - 0.25) < 0.001)
  }

  @Test("if frames stop returning, those sent more than two seconds ago are missing")
  func stopped() throws {
    let videoFrames = try NumberedVideoFrames(count: 180)
    let judge = judge()
    for number in 0..<180 {
      let time = videoFrames.time(number)
      judge.sent(videoFrames.frame(number, at: time), at: SyntheticCall.instant(time))
      if number < 60 {
        judge.receive(
          videoFrames.frame(number, at: time + 0.01), from: SyntheticCall.peer, at: SyntheticCall.instant(time + 0.01))
      }
    }
    let report = judge.report(at: SyntheticCall.instant(6))
    let returned = try #require(report.peers.first?.returned)
    #expect(returned.returned == 60)
    // The frames sent from second 2 to second 4.
    #expect(returned.missing == 61)
    #expect(report.result("returned.ratio >= 0.9")?.outcome == .failed)
  }

  @Test("the delay is measured to 5 ms", arguments: [0.0, 0.05, 0.15, 1.5])
  func delay(delay: Double) throws {
    var call = SyntheticCall()
    call.duration = 5
    call.delay = delay
    let pattern = try #require(try call.report().peers.first?.pattern)
    let video = try #require(pattern.videoDelay)
    let audio = try #require(pattern.audioDelay)
    print("measured: delay \(delay) s: frames \(video.p50), p95 \(video.p95) s; audio \(audio.p50) s")
    #expect(abs(video.p50 - delay) < 0.002)
    #expect(abs(video.p95 - delay) < 0.005)
    #expect(abs(video.worst - delay) < 0.005)
    // An audio packet is 20 ms long and can be sent only after its last sample was captured.
    #expect(abs(audio.p50 - delay - 0.02) < 0.005)
  }

  @Test("a restart of the pattern is not loss")
  func restart() throws {
    let videoFrames = try NumberedVideoFrames(count: 30)
    let judge = judge()
    for round in 0..<2 {
      for number in 0..<30 where number != 7 {
        let time = Double(round) * 2 + videoFrames.time(number)
        judge.receive(videoFrames.frame(number, at: time), from: SyntheticCall.peer, at: SyntheticCall.instant(time))
      }
    }
    var tracker = FrameNumberTracker()
    for round in 0..<3 as Range<UInt64> {
      for number in 0..<30 as Range<UInt32> {
        _ = tracker.add(.init(streamID: 1, frameNumber: number, time: 1_000_000 + round * 5_000 + UInt64(number) * 33))
      }
    }
    #expect(tracker.restarts == 2)
    #expect(tracker.numbersPainted == 90)
    #expect(tracker.numbersSeen == 90)
    #expect(tracker.doubled == 0)
    // The same frames again, with the same times, are duplicates.
    let pattern = try #require(judge.report(at: SyntheticCall.instant(4)).peers.first?.pattern)
    #expect(pattern.doubled == 29)
    #expect(pattern.missing == 1)
  }
}
