import Codecs
import Foundation
import Media
import NIOCore
import Pattern

/// Makes the audio of a user: marks of the pattern, tones, and packets of 20 ms of them.
final class PatternVoice: SentTrack {
  /// The samples of a packet, at 48 kHz.
  private static let packetSamples = 960
  /// The pattern's audio repeats after 256 s.
  private static let packetsInPeriod = 256 * 50

  private let audio: SentAudio
  private let clock: SenderClock
  /// When it is sent, in seconds of the call.
  private let span: Range<Double>
  private let encoder: OpusEncoder?
  /// The packets of one period, so that hours of audio are encoded within seconds; empty where there are tones.
  private var period: [ByteBuffer] = []
  /// The packets of another codec than Opus, the first at `first`.
  private var octets: [ByteBuffer] = []
  private let pattern: PatternAudio
  private let first: Int
  /// The number of the next packet since the beginning of the call.
  private var next: Int
  private var missing: (gap: SentGap, packets: Int)?

  init(_ audio: SentAudio, clock: SenderClock, stay: Range<Double>) throws {
    self.audio = audio
    self.clock = clock
    span = (audio.span ?? stay).clamped(to: stay)
    pattern = PatternAudio(channels: audio.channels)
    let packetsPerSecond = Double(AudioSamples.rate) / Double(Self.packetSamples)
    // The delay of a decoder is less than 10 ms, and nothing is from before the stay.
    first = Int((clock.reading(at: span.lowerBound + 0.01) * packetsPerSecond).rounded(.up))
    next = first
    guard audio.codec == .opus else {
      encoder = nil
      octets = try OctetEncoding.packets(
        of: samples(first, count: Int(((span.upperBound - span.lowerBound) * packetsPerSecond).rounded(.up)) + 2),
        codec: audio.codec)
      return
    }
    var settings = OpusEncoder.Settings()
    settings.channels = audio.channels
    settings.bitrate = audio.bitrate
    settings.complexity = 2
    encoder = try OpusEncoder(settings)
  }

  var codec: Codec { audio.codec }

  func pieces(before time: Double) throws -> [SentPiece] {
    var pieces: [SentPiece] = []
    while true {
      let reading = Double(next * Self.packetSamples) / Double(AudioSamples.rate)
      let captured = clock.time(of: reading)
      guard captured < min(time, span.upperBound) else { return pieces }
      if let piece = try piece(next, at: captured) { pieces.append(piece) }
      next += 1
    }
  }

  private func piece(_ number: Int, at time: Double) throws -> SentPiece? {
    let start = Int64(number * Self.packetSamples)
    let payload: ByteBuffer
    let ticks: Int64
    if let encoder {
      payload = try packet(number, of: encoder)
      // As browsers do, and as recorders expect: the time of the first sample that was encoded, not of the first decoded one.
      ticks = start
    } else {
      guard octets.indices.contains(number - first) else { return nil }
      payload = octets[number - first]
      ticks = start * Int64(audio.codec.clockRate) / Int64(AudioSamples.rate)
    }
    if let gap = audio.gaps.first(where: { $0.span.contains(time) }) {
      missing = (gap, (missing?.packets ?? 0) + 1)
      return nil
    }
    defer { missing = nil }
    return SentPiece(
      time: time, ticks: ticks, codec: audio.codec, payload: payload,
      gap: missing.map { $0.gap.reported($0.packets) })
  }

  private func packet(_ number: Int, of encoder: OpusEncoder) throws -> ByteBuffer {
    let repeats = audio.tones.isEmpty
    if repeats, period.count == Self.packetsInPeriod { return period[(number - first) % Self.packetsInPeriod] }
    let packet = try encoder.encode(samples(number, count: 1))
    if repeats { period.append(packet) }
    return packet
  }

  /// Returns the samples of packets.
  private func samples(_ number: Int, count: Int) -> AudioSamples {
    let start = number * Self.packetSamples
    let length = count * Self.packetSamples
    var samples =
      audio.isPattern
      ? pattern.audio(from: clock.firstSample + Int64(start), count: length)
      : AudioSamples(samples: [Float](repeating: 0, count: length * audio.channels), channels: audio.channels)
    for tone in audio.tones { add(tone, to: &samples, from: start) }
    return samples
  }

  /// Adds a tone to samples, of which the first is number `start` since the beginning of the call.
  private func add(_ tone: SentAudio.Tone, to samples: inout AudioSamples, from start: Int) {
    let rate = Double(AudioSamples.rate)
    let channels = audio.channels
    for span in tone.spans {
      let begin = Int(clock.reading(at: span.lowerBound) * rate)
      let end = Int(clock.reading(at: span.upperBound) * rate)
      for index in max(start, begin)..<max(start, begin, min(start + samples.count, end)) {
        // It begins and ends within 5 ms, without a click.
        let edge = Float(min(index - begin, end - index, 240)) / 240
        let value = edge * tone.amplitude * Float(sin(2 * Double.pi * tone.frequency * Double(index) / rate))
        for channel in 0..<channels { samples.samples[(index - start) * channels + channel] += value }
      }
    }
  }
}
