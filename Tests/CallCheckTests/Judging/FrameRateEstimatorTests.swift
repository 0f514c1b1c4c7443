import CallCheck
import CallCheckTestSupport
import Codecs
import Media
import NIOCore
import TestSupport
import Testing

@Suite("Frame rate estimation")
struct FrameRateEstimatorTests {
  /// A frame: when the sender produced it by its own timestamps, and when it arrived.
  private typealias TimedFrame = (made: Double, arrived: Double)

  /// Returns frames at a constant rate that arrive as they are produced.
  private func camera(_ rate: Double, from start: Double = 0, to end: Double) -> [TimedFrame] {
    (0..<Int(((end - start) * rate).rounded())).map { number in
      let made = start + Double(number) / rate
      return (made, made)
    }
  }

  /// Returns frames as this program plays a file to a new peer: all older frames within nine tenths of the time to the
  /// next frame.
  private func squeeze(_ count: Int) -> [TimedFrame] {
    (1...count).map { number -> TimedFrame in
      let share = Double(number) / Double(count)
      return (1 + 0.09 * share, 1 + 0.5 * share - 0.01)
    }
  }

  /// Returns the video measurements of a check that lasts until a time.
  private func peer(of frames: [TimedFrame], until end: Double) throws -> PeerReport {
    let size = VideoSize(width: 32, height: 32)
    let encoder = try VP8Encoder(.init(size: size))
    // Each frame is a keyframe of the same size, so that bitrates can be predicted.
    let payload = try #require(try encoder.encode(VideoFrame(size: size), time: 0, keyframe: true)?.payload)
    let judge = CallJudge(.init(start: SyntheticCall.start, room: "100"))
    for frame in frames.sorted(by: { $0.arrived < $1.arrived }) {
      let arrival = SyntheticCall.instant(frame.arrived)
      judge.receive(
        EncodedFrame(
          owner: SyntheticCall.peer, codec: .vp8,
          time: MediaTime(ticks: 900_000 + Int64((frame.made * 90_000).rounded()), rate: 90_000), payload: payload,
          isKeyframe: true, arrival: arrival), from: SyntheticCall.peer, at: arrival)
    }
    return try #require(judge.report(at: SyntheticCall.instant(end)).peers.first)
  }

  @Test(
    "older frames that a new peer receives at once, squeezed into one moment, do not raise the rate",
    arguments: [40, 99])
  func squeezed(olderFrames: Int) throws {
    let replayed = squeeze(olderFrames)
    let peer = try peer(of: replayed + camera(10, from: 1.5, to: 6), until: 6)
    let video = try #require(peer.video)
    print("measured: 10 fps and \(olderFrames) older frames at once: \(video.fps) fps")
    #expect(video.frames == olderFrames + 45)
    #expect(abs(video.fps - 10) < 1)
    #expect(peer.timeline.fps.allSatisfy { ($0 ?? 0) <= 15 })
  }

  @Test("older frames that arrive at once with their original timestamps do not raise the rate")
  func unhurried() throws {
    let replayed = camera(10, from: 8.2, to: 10).enumerated().map { number, frame -> TimedFrame in
      (frame.made, 10 + 0.01 * Double(number))
    }
    let live = camera(10, from: 10, to: 15).map { frame -> TimedFrame in (frame.made, frame.arrived + 0.2) }
    let peer = try peer(of: replayed + live, until: 15.2)
    let video = try #require(peer.video)
    print("measured: 10 fps and 1.8 s of older frames at once: \(video.fps) fps")
    #expect(video.frames == 68)
    #expect(abs(video.fps - 10) < 0.3)
  }

  @Test("frames that are repeated at each keyframe request do not raise the rate")
  func again() throws {
    var frames = camera(10, to: 10)
    for second in 1..<10 {
      for number in 1...15 {
        let time = Double(second) + 0.3 + 0.09 * Double(number) / 15
        frames.append((made: time, arrived: time))
      }
    }
    let video = try #require(try peer(of: frames, until: 10).video)
    print("measured: 10 fps, and each second the last 15 once more: \(video.fps) fps")
    #expect(video.frames == 235)
    #expect(video.fps < 13)
  }

  @Test("the sender's real frame rate is counted in full", arguments: [1.0, 5, 15, 24, 30, 60, 90, 120])
  func honest(rate: Double) throws {
    let video = try #require(try peer(of: camera(rate, to: 8), until: 8).video)
    #expect(abs(video.fps - rate) < 0.01)
  }

  @Test("60 frames per second stay 60 although timestamps and arrivals have jitter and bursts")
  func wavering() throws {
    var generator = SeededGenerator(seed: 4)
    func random() -> Double { Double(generator.next() % 1_000) / 1_000 }
    var latest = 0.0
    let frames = camera(60, to: 10).map { frame -> TimedFrame in
      // Up to 6 ms at the camera, and up to 80 ms in the network, in order.
      latest = max(latest, frame.arrived + 0.08 * random())
      return (frame.made + 0.006 * random(), latest)
    }
    let video = try #require(try peer(of: frames, until: 10.05).video)
    print("measured: 60 fps that waver: \(video.fps) fps")
    #expect(abs(video.fps - 60) < 0.6)
  }

  @Test("a sender with an increasing frame rate is counted in full, too")
  func faster() throws {
    let video = try #require(try peer(of: camera(5, to: 4) + camera(60, from: 4, to: 8), until: 8).video)
    #expect(abs(video.fps - 32.5) < 0.3)
  }

  @Test("frames that the network delayed and delivered at once still count")
  func heldUp() throws {
    let frames = camera(30, to: 8).map { frame -> TimedFrame in
      (frame.made, (3..<4.5).contains(frame.arrived) ? 4.5 : frame.arrived)
    }
    let video = try #require(try peer(of: frames, until: 8).video)
    #expect(abs(video.fps - 30) < 0.1)
  }

  @Test("absurd timestamps do not change the count", arguments: [0.0, 1e5, -1e5])
  func absurd(step: Double) throws {
    let frames = camera(30, to: 8).enumerated().map { number, frame -> TimedFrame in
      (1_000_000 + step * Double(number % 7), frame.arrived)
    }
    let video = try #require(try peer(of: frames, until: 8).video)
    #expect(abs(video.fps - 30) < 0.1)
  }

  @Test("the bitrate refers to the same time: older frames that arrive at once do not raise it")
  func bitrate() throws {
    let slow = try #require(try peer(of: squeeze(99) + camera(10, from: 1.5, to: 6), until: 6).video)
    let plain = try #require(try peer(of: camera(10, from: 1, to: 6), until: 6).video)
    #expect(slow.bitrate < plain.bitrate * 1.1)
    #expect(slow.bitrate > plain.bitrate * 0.9)
  }
}
