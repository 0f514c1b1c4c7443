import Bitstream
import Codecs
import LiveSource
import Media
import NIOCore
import Pattern
import TestSupport
import Testing

@Suite("The live audio encoder")
struct LiveAudioEncoderTests {
  private let origin = ContinuousClock.now

  /// Encodes the pattern's audio from a full second on.
  private func frames(
    _ encoder: LiveAudioEncoder, from start: Int64 = 0, count: Int64, pieces: () -> Int = { 960 }
  ) throws -> [EncodedFrame] {
    let pattern = PatternAudio(channels: encoder.channels)
    var frames: [EncodedFrame] = []
    var time = start
    while time < start + count {
      let audio = pattern.audio(from: time, count: pieces())
      frames += try encoder.encode(audio, time: time, now: origin)
      time += Int64(audio.count)
    }
    return frames
  }

  @Test("packets are 20 ms apart, whatever the length of the input pieces", arguments: [1, 2])
  func packets(channels: Int) throws {
    var generator = SeededGenerator(seed: 2)
    let encoder = try LiveAudioEncoder(channels: channels, owner: ParticipantID("me"))
    let frames = try frames(encoder, count: 48_000) { Int.random(in: 1...3_000, using: &generator) }
    #expect((48...52).contains(frames.count))
    #expect(frames.first?.time.ticks == 648)
    let areEven = zip(frames, frames.dropFirst()).allSatisfy { $1.time.ticks - $0.time.ticks == 960 }
    #expect(areEven)
    let areWhole = try frames.allSatisfy { try OpusPacket(parsing: $0.payload).duration == 960 }
    #expect(areWhole)
    #expect(frames.allSatisfy { $0.isKeyframe && $0.codec == .opus && $0.owner == ParticipantID("me") })
  }

  @Test("decoded audio matches the packets' times, with the codec's delay subtracted")
  func times() throws {
    let encoder = try LiveAudioEncoder(channels: 1)
    let decoder = try OpusDecoder(channels: 1)
    var reader = PatternAudioReader()
    var marks: [DetectedMark] = []
    for frame in try frames(encoder, from: 24_000, count: 120_000) {
      marks += reader.read(try decoder.decode(frame.payload), at: frame.time.ticks)
    }
    marks += reader.finish()
    #expect(marks.map(\.second) == [1, 2])
    #expect(marks.allSatisfy { abs($0.time - Int64($0.second) * 48_000) <= 12 })
  }

  @Test("the bitrate adapts to the target", arguments: [48_000, 24_000, 16_000])
  func bitrate(target: Int) throws {
    let encoder = try LiveAudioEncoder(channels: 2)
    _ = try frames(encoder, count: 24_000)
    try encoder.adapt(toBitrate: target, fractionLost: 0, now: origin)
    let bytes = try frames(encoder, from: 24_000, count: 240_000).map(\.payload.readableBytes).reduce(0, +)
    print("measured: live audio at \(target / 1_000) kb/s: \(bytes * 8 / 5_000) kb/s measured")
    #expect(bytes * 8 / 5 <= target * 110 / 100)
    #expect(bytes * 8 / 5 >= target * 60 / 100)
  }

  @Test("packets carry copies while loss is reported, and none after it has ended")
  func copies() throws {
    let encoder = try LiveAudioEncoder(channels: 1, bitrate: 24_000)
    func withCopy(_ frames: [EncodedFrame]) throws -> Int {
      try frames.filter { try OpusPacket(parsing: $0.payload).carriesCopy }.count
    }
    #expect(try withCopy(frames(encoder, count: 48_000)) == 0)
    try encoder.adapt(toBitrate: 24_000, fractionLost: 0.1, now: origin)
    _ = try frames(encoder, from: 48_000, count: 9_600)
    // Only loud audio is worth a copy: the marks, a fifth of the time.
    let copies = try withCopy(frames(encoder, from: 57_600, count: 96_000))
    #expect(copies >= 16)
    for second in 1...60 { try encoder.adapt(toBitrate: 24_000, fractionLost: 0, now: origin + .seconds(second)) }
    _ = try frames(encoder, from: 153_600, count: 9_600)
    #expect(try withCopy(frames(encoder, from: 163_200, count: 48_000)) == 0)
  }

  @Test("short gaps are filled with silence, long ones are kept, and repeated audio is skipped")
  func discontinuities() throws {
    let encoder = try LiveAudioEncoder(channels: 1)
    func audio(_ count: Int) -> AudioSamples {
      AudioSamples(samples: [Float](repeating: 0.1, count: count), channels: 1)
    }
    func times(_ count: Int, at time: Int64) throws -> [Int64] {
      try encoder.encode(audio(count), time: time, now: origin).map(\.time.ticks)
    }
    #expect(try times(1_920, at: 0) == [648])
    #expect(try times(960, at: 2_880) == [1_608, 2_568])
    #expect(try times(960, at: 2_880) == [])
    #expect(try times(1_000, at: 3_800) == [3_528])
    #expect(try times(960, at: 10_000_000) == [9_999_688])
    #expect(throws: CodecError.self) {
      try encoder.encode(AudioSamples(samples: [0, 0], channels: 2), time: 0, now: origin)
    }
    #expect(try times(0, at: .max).isEmpty)
    #expect(try times(960, at: .min).isEmpty)
  }
}
