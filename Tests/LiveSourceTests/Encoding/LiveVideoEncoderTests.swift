import Codecs
import LiveSource
import Media
import NIOCore
import Pattern
import TestSupport
import Testing

@Suite("The live video encoder")
struct LiveVideoEncoderTests {
  private static let vga = VideoSize(width: 640, height: 480)
  private let origin = ContinuousClock.now

  /// A frame that an encoder returned.
  private struct Sent {
    var time: Int
    var bits: Int
    var isKeyframe: Bool
    var size: VideoSize
    var divisor: Int
  }

  private static func noise(_ size: VideoSize, depth: UInt64) -> [VideoFrame] {
    var generator = SeededGenerator(seed: 9)
    return (0..<8).map { _ in
      var videoFrame = VideoFrame(size: size, luma: 120)
      for index in videoFrame.luma.indices { videoFrame.luma[index] = UInt8(56 + generator.next() % depth) }
      return videoFrame
    }
  }

  /// Plays at 30 fps and decodes every frame.
  private func play(
    _ encoder: LiveVideoEncoder, videoFrames: Int, target: (_ milliseconds: Int) -> Int,
    request: (_ videoFrame: Int) -> Bool,
    videoFrame: (Int) -> VideoFrame
  ) throws -> [Sent] {
    let decoder = try VideoDecoder(encoder.settings.codec)
    var sent: [Sent] = []
    var decoded = 0
    for number in 0..<videoFrames {
      let milliseconds = number * 100 / 3
      let now = origin + .nanoseconds(number * 1_000_000_000 / 30)
      encoder.adapt(toBitrate: target(milliseconds), now: now)
      if request(number) { encoder.requestKeyframe(now: now) }
      guard let frame = try encoder.encode(videoFrame(number), time: Int64(number) * 3_000, now: now) else { continue }
      if try decoder.decode(frame.payload) == encoder.qualityLevel.size { decoded += 1 }
      sent.append(
        Sent(
          time: milliseconds, bits: frame.payload.readableBytes * 8, isKeyframe: frame.isKeyframe,
          size: encoder.qualityLevel.size, divisor: encoder.qualityLevel.divisor))
    }
    #expect(decoded == sent.count)
    return sent
  }

  /// Returns the maximum number of bits in any second within a range.
  private func worstSecond(_ sent: [Sent], _ range: Range<Int>) -> Int {
    sent.indices.filter { range.contains(sent[$0].time) && sent[$0].time + 1_000 <= range.upperBound }.map { first in
      sent[first...].prefix { $0.time < sent[first].time + 1_000 }.map(\.bits).reduce(0, +)
    }.max() ?? 0
  }

  private func bitrate(_ sent: [Sent], _ range: Range<Int>) -> Int {
    sent.filter { range.contains($0.time) }.map(\.bits).reduce(0, +) * 1_000 / range.count
  }

  @Test(
    "a size that changes at an interval does so every 2 s, with a keyframe, and every frame decodes",
    arguments: [Codec.vp8, .h264])
  func changesSize(codec: Codec) throws {
    let painter = PatternPainter(size: Self.vga)
    var settings = LiveVideoEncoder.Settings(codec: codec, size: Self.vga, framesPerSecond: 30)
    settings.sizeChange = .seconds(2)
    let sent = try play(
      try LiveVideoEncoder(settings), videoFrames: 300, target: { _ in 2_000_000 }, request: { $0 % 97 == 96 }
    ) {
      painter.videoFrame(frame: UInt32($0), time: UInt64($0) * 100 / 3)
    }
    let half = VideoSize(width: 320, height: 240)
    for videoFrame in sent {
      #expect(videoFrame.size == (videoFrame.time / 2_000 % 2 == 0 ? Self.vga : half), "at \(videoFrame.time) ms")
    }
    let changes = zip(sent, sent.dropFirst()).filter { $0.size != $1.size }.map(\.1)
    #expect(changes.map(\.isKeyframe) == [true, true, true, true])
    #expect(changes.map { $0.time / 100 } == [20, 40, 60, 80])
  }

  @Test(
    "the pattern adapts to 2 Mb/s, 300 kb/s, 100 kb/s and 2 Mb/s again, keyframes included",
    arguments: [Codec.vp8, .h264])
  func patternFollows(codec: Codec) throws {
    let painter = PatternPainter(size: Self.vga)
    let encoder = try LiveVideoEncoder(.init(codec: codec, size: Self.vga, framesPerSecond: 30))
    let targets = [2_000_000, 300_000, 100_000, 2_000_000]
    let sent = try play(
      encoder, videoFrames: 4 * 8 * 30, target: { targets[min(3, $0 / 8_000)] }, request: { $0 % 150 == 100 }
    ) {
      painter.videoFrame(frame: UInt32($0), time: UInt64($0) * 100 / 3)
    }
    for (index, target) in targets.enumerated() {
      let interval = index * 8_000 + 1_000..<(index + 1) * 8_000
      let worst = worstSecond(sent, interval)
      let average = bitrate(sent, interval)
      let pauses = zip(sent, sent.dropFirst()).filter {
        (interval.lowerBound - 1_000..<interval.upperBound).contains($0.1.time)
      }
      let longest = pauses.map { $0.1.time - $0.0.time }.max() ?? 0
      print(
        "measured: live encoder, pattern, target of \(target / 1_000) kb/s: \(average / 1_000) kb/s, worst second \(worst * 100 / target) %, longest pause \(longest) ms"
      )
      #expect(worst * 100 <= target * 115)
      // x264 leaves more of a low bitrate unused, because its frames must not exceed it.
      if index < 3 { #expect(average * 100 >= target * (codec == .vp8 ? 80 : 70)) }
      #expect(longest <= 500)
    }
    let wholeSizes = sent.allSatisfy { $0.size == Self.vga }
    #expect(wholeSizes)
    let last = try #require(sent.last)
    #expect(last.divisor == 1)
  }

  @Test(
    "detailed frames become fewer and smaller, keep to the bitrate, and recover slowly", arguments: [Codec.vp8, .h264])
  func noiseFollows(codec: Codec) throws {
    let size = VideoSize(width: 320, height: 240)
    let noise = Self.noise(size, depth: 64)
    let encoder = try LiveVideoEncoder(.init(codec: codec, size: size, framesPerSecond: 30))
    let targets = [2_000_000, 300_000, 100_000, 2_000_000]
    let sent = try play(
      encoder, videoFrames: 4 * 12 * 30, target: { targets[min(3, $0 / 12_000)] }, request: { $0 == 700 }
    ) {
      noise[$0 % noise.count]
    }
    for (index, target) in targets.enumerated() {
      let interval = index * 12_000 + 4_000..<(index + 1) * 12_000
      let worst = worstSecond(sent, interval)
      let there = try #require(sent.last { $0.time < interval.upperBound })
      print(
        "measured: live encoder, noise, target of \(target / 1_000) kb/s: \(bitrate(sent, interval) / 1_000) kb/s, worst second \(worst * 100 / target) %, at the end \(there.size), one of \(there.divisor) frames"
      )
      #expect(worst * 100 <= target * 115)
    }
    let poor = sent.filter { (24_000..<36_000).contains($0.time) }
    // x264 codes noise with so few bits that fewer frames are enough.
    guard codec == .vp8 else { return #expect(poor.contains { $0.divisor == 2 || $0.size != size }) }
    let smallest = poor.map(\.size.width).min()
    #expect(smallest == 120 || smallest == 160)
    let last = try #require(sent.last)
    #expect(last.size.width > smallest ?? .max)
  }

  @Test(
    "the quality reduced for a viewer with little bandwidth is restored when no viewer is left",
    arguments: [Codec.vp8, .h264])
  func startsOver(codec: Codec) throws {
    let encoder = try LiveVideoEncoder(.init(codec: codec, size: Self.vga, framesPerSecond: 30))
    let noise = Self.noise(Self.vga, depth: 140)
    _ = try play(encoder, videoFrames: 150, target: { _ in 100_000 }, request: { _ in false }) { noise[$0 % 8] }
    #expect(encoder.qualityLevel.size.width <= (codec == .vp8 ? 240 : 640) && encoder.qualityLevel.divisor == 2)
    encoder.reset(now: origin + .seconds(5))
    var first: EncodedFrame?
    for number in 150..<170 where first == nil {
      let now = origin + .nanoseconds(number * 1_000_000_000 / 30)
      let frame = try encoder.encode(noise[number % 8], time: Int64(number) * 3_000, now: now)
      if frame?.size == Self.vga { first = frame }
    }
    #expect(first?.isKeyframe == true)
    #expect(encoder.qualityLevel.divisor == 1 && encoder.qualityLevel.size == Self.vga)
  }

  @Test(
    "a keyframe follows a request within 100 ms, and there are never two within 500 ms", arguments: [Codec.vp8, .h264])
  func keyframes(codec: Codec) throws {
    let size = VideoSize(width: 160, height: 120)
    let painter = PatternPainter(size: size)
    let encoder = try LiveVideoEncoder(.init(codec: codec, size: size, framesPerSecond: 30))
    var generator = SeededGenerator(seed: 6)
    var asked: [Int] = []
    // First none, then at random, then ten requests a second.
    let sent = try play(encoder, videoFrames: 1_200, target: { _ in 200_000 }) { number in
      let asks =
        number > 800 ? number % 3 == 0 : number > 100 && Int.random(in: 0..<40, using: &generator) == 0
      if asks { asked.append(number * 100 / 3) }
      return asks
    } videoFrame: {
      painter.videoFrame(frame: UInt32($0), time: UInt64($0) * 33)
    }
    let keyframes = sent.filter(\.isKeyframe).map(\.time)
    let distances = zip(keyframes, keyframes.dropFirst()).map { $1 - $0 }
    #expect(distances.allSatisfy { $0 >= 500 })
    var longest = 0
    for time in asked where time < 39_000 {
      let answer = keyframes.first { $0 >= time } ?? .max
      let before = keyframes.last { $0 < time } ?? -1_000
      longest = max(longest, answer - max(time, before + 500))
    }
    print(
      "measured: keyframe at most \(longest) ms after it was requested or allowed; \(asked.count) requests, \(keyframes.count) keyframes"
    )
    #expect(longest <= 34)
    #expect(keyframes.filter { $0 > 27_000 }.count == 26)
    #expect(keyframes.filter { $0 < 3_300 } == [0])
  }

  @Test("with one frame in two seconds, a requested keyframe encodes the current frame again")
  func slowSource() throws {
    let size = VideoSize(width: 160, height: 120)
    let painter = PatternPainter(size: size)
    let encoder = try LiveVideoEncoder(.init(size: size, framesPerSecond: 0.5))
    #expect(encoder.deadline == nil)
    let first = try #require(
      try encoder.encode(painter.videoFrame(frame: 0, time: 0), time: 0, now: origin))
    #expect(first.isKeyframe)
    #expect(first.size == size)
    encoder.requestKeyframe(now: origin + .milliseconds(900))
    let deadline = try #require(encoder.deadline)
    #expect(deadline <= origin + .milliseconds(1_000))
    let again = try #require(try encoder.encodeAgain(time: 85_000, now: deadline))
    #expect(again.isKeyframe)
    #expect(again.time == MediaTime(ticks: 85_000, rate: 90_000))
    #expect(encoder.deadline == nil)
    let nothing = try encoder.encodeAgain(time: 86_000, now: deadline + .seconds(1))
    #expect(nothing == nil)
    let next = try #require(
      try encoder.encode(painter.videoFrame(frame: 1, time: 2_000), time: 180_000, now: origin + .seconds(2)))
    #expect(!next.isKeyframe)
  }

  @Test("10,000 frames keep to the bitrate without drift")
  func longRun() throws {
    let size = VideoSize(width: 96, height: 72)
    let noise = Self.noise(size, depth: 16)
    let encoder = try LiveVideoEncoder(.init(size: size, framesPerSecond: 30))
    let sent = try play(encoder, videoFrames: 10_000, target: { _ in 150_000 }, request: { $0 % 1_000 == 0 }) {
      noise[$0 * 5 % noise.count]
    }
    let parts = (0..<11).map { bitrate(sent, $0 * 30_000 + 3_000..<($0 + 1) * 30_000) }
    print("measured: 10,000 frames at 150 kb/s: \(parts.map { $0 / 1_000 }) kb/s in each half minute")
    #expect(parts.allSatisfy { (135_000...151_500).contains($0) })
    #expect(worstSecond(sent, 3_000..<333_000) <= 168_000)
    #expect(sent.count > 9_000)
  }

  @Test("a still image costs next to nothing, and odd sizes and extreme values do no harm")
  func stillAndOdd() throws {
    let still = VideoFrame(size: VideoSize(width: 161, height: 91), luma: 90)
    let encoder = try LiveVideoEncoder(.init(size: still.size, framesPerSecond: 30))
    let sent = try play(encoder, videoFrames: 300, target: { _ in 1_000_000 }, request: { _ in false }) { _ in still }
    #expect(sent.count == 300)
    #expect(bitrate(sent, 1_000..<10_000) < 10_000)
    for framesPerSecond in [-1.0, 0, 1e9] {
      let odd = try LiveVideoEncoder(.init(size: still.size, framesPerSecond: framesPerSecond))
      odd.adapt(toBitrate: .min, now: origin)
      odd.adapt(toBitrate: .max, now: origin)
      #expect(try odd.encode(still, time: .min, now: origin) != nil)
      odd.adapt(toBitrate: 0, now: origin)
      _ = try odd.encode(still, time: .max, now: origin + .seconds(1))
    }
    #expect(throws: CodecError.self) {
      try LiveVideoEncoder(.init(size: VideoSize(width: 1, height: 20_000), framesPerSecond: 30))
    }
  }
}
