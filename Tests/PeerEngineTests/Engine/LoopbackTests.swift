import Media
import NetworkEmulation
import PeerEngine
import RTP
import TestSupport
import Testing

@Suite("Media sent back to its sender")
struct LoopbackTests {
  /// Plays from Alice to Bob, who sends every frame back, in steps of a millisecond.
  private func run(_ pair: inout EnginePair, for span: Duration, from first: inout Int) {
    for _ in 0..<Int(span / .milliseconds(1)) {
      pair.run(for: .milliseconds(1))
      for frame in pair.bob.frames.dropFirst(first) { pair.bob.engine.send(frame, times: .ofTrack, now: pair.now) }
      first = pair.bob.frames.count
    }
  }

  private func pair(seed: UInt64, loss: Double = 0) throws -> EnginePair {
    let line = Impairment.Conditions(loss: loss, delay: .milliseconds(10))
    var pair = try EnginePair(seed: seed, line: line)
    try pair.connect()
    pair.setBandwidth(line, seed: seed)
    return pair
  }

  @Test("all media returns in order and unaltered, and the loopback adds less than 33 ms")
  func back() throws {
    var pair = try pair(seed: 1)
    pair.play(kinds: [.audio, .video])
    pair.bob.source = nil
    var first = 0
    run(&pair, for: .seconds(5), from: &first)
    let sent = pair.stopPlaying().fromAlice
    run(&pair, for: .seconds(1), from: &first)
    for codec in [Codec.opus, .vp8] {
      let back = pair.alice.frames.payloads(codec)
      let gone = sent.payloads(codec)
      #expect(Double(back.count) >= Double(gone.count) * 0.99)
      let isSame = back.elementsEqual(gone.suffix(back.count))
      #expect(isSame)
      let times = pair.alice.frames.filter { $0.codec == codec }.map(\.time.ticks)
      #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
    }
    let there = Dictionary(
      zip(pair.bob.frameTimes, pair.bob.frames).map { ($1.payload, $0) }, uniquingKeysWith: { first, _ in first })
    // A receiver holds the very first packets for a moment, because they may have overtaken others.
    let settled = pair.bob.frameTimes[0] + .seconds(1)
    let added = zip(pair.alice.frameTimes, pair.alice.frames).filter { $0.0 > settled }.compactMap { time, frame in
      there[frame.payload].map { time - $0 - .milliseconds(10) }
    }.sorted()
    print("measured: time added in loopback: median \(added[added.count / 2]), 99 % \(added[added.count * 99 / 100])")
    #expect(added[added.count * 99 / 100] < .milliseconds(33))
  }

  @Test("loss in either direction is repaired in that direction, and the returned media can be decoded")
  func loss() throws {
    var pair = try pair(seed: 2, loss: 0.05)
    pair.play()
    pair.bob.source = nil
    var first = 0
    run(&pair, for: .seconds(5), from: &first)
    pair.setBandwidth(.init(delay: .milliseconds(10)), seed: 9)
    let sent = pair.stopPlaying().fromAlice
    run(&pair, for: .seconds(3), from: &first)
    pair.alice.expectUnbroken(sent)
    let share = Double(pair.alice.frames.payloads(.vp8).count) / Double(sent.payloads(.vp8).count)
    #expect(share > 0.99)
  }

  @Test("each track's timestamps have an origin of their own, and jumps and pauses of one do not affect the other")
  func times() {
    let start = MonotonicInstant.now
    var clock = SendClock(epoch: start)
    var videoFrames: [Int64] = []
    var audioTicks: [Int64] = []
    for step in 0..<1_000 {
      let now = start + .milliseconds(step * 20)
      // The video's source changes at 5 s, and pauses from 10 s to 12 s.
      let origin: Int64 = step < 250 ? 4_000_000_000 : 17
      audioTicks.append(
        clock.ticks(
          of: MediaTime(ticks: 99_000_000 + Int64(step) * 960, rate: 48_000), codec: .opus, times: .ofTrack, due: now))
      if (500..<600).contains(step) { continue }
      videoFrames.append(
        clock.ticks(
          of: MediaTime(ticks: origin + Int64(step) * 1_800, rate: 90_000), codec: .vp8, times: .ofTrack, due: now))
    }
    #expect(zip(audioTicks, audioTicks.dropFirst()).allSatisfy { $1 - $0 == 960 })
    let steps = zip(videoFrames, videoFrames.dropFirst()).map { $1 - $0 }
    #expect(steps.count { $0 != 1_800 } == 1)
    #expect(steps.max() == Int64(181_800))
    #expect(abs(Double(audioTicks[999]) / 48_000 - Double(videoFrames[videoFrames.count - 1]) / 90_000) < 0.001)
  }

  @Test("a track whose first frames are late keeps their distances, and sender reports relate it to the other track")
  func lateStart() {
    let start = MonotonicInstant.now
    var clock = SendClock(epoch: start)
    var last: (video: Int64, audio: Int64) = (0, 0)
    for step in 0..<600 {
      let due = start + .milliseconds(step * 20)
      let video = clock.ticks(
        of: MediaTime(ticks: 7_000 + Int64(step) * 1_800, rate: 90_000), codec: .vp8, times: .ofTrack,
        due: max(due, start + .milliseconds(300)))
      let audio = clock.ticks(
        of: MediaTime(ticks: 90_000 + Int64(step) * 960, rate: 48_000), codec: .opus, times: .ofTrack, due: due)
      #expect(step == 0 || video - last.video == 1_800 && audio - last.audio == 960)
      last = (video, audio)
    }
    let now = start + .milliseconds(599 * 20)
    #expect(abs(clock.ticks(at: now, codec: .vp8) - last.video) <= 1)
    #expect(abs(clock.ticks(at: now, codec: .opus) - last.audio) <= 1)
  }

  @Test("sender reports of looped media follow a participant's clock that is slower than ours")
  func drift() {
    let start = MonotonicInstant.now
    var clock = SendClock(epoch: start)
    for step in 0..<6_000 {
      // 1 ms in a second slow, and up to 40 ms late.
      let due = start + .milliseconds(step * 20) + .microseconds(step * 20) + .milliseconds(step % 5 * 10)
      let ticks = clock.ticks(
        of: MediaTime(ticks: Int64(step) * 1_800, rate: 90_000), codec: .vp8, times: .ofTrack, due: due)
      let late = Double(clock.ticks(at: due, codec: .vp8) - ticks) / 90
      #expect(abs(late - Double(step % 5 * 10)) <= 21, "the report is at most two windows of drift behind")
    }
  }
}
