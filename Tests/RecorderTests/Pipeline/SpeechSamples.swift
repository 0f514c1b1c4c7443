import Codecs
import Foundation
import TestSupport

/// A voice-like signal: a buzz with three formants and varying pitch and loudness, in packets as browsers send them.
enum SpeechSamples {
  /// - Parameters:
  ///   - ticks: the length of each packet.
  ///   - correctsErrors: whether each packet contains a copy of the previous one.
  static func packets(
    _ seconds: Double, ticks: Int = 960, channels: Int = 1, correctsErrors: Bool, bitrate: Int = 32_000,
    isForSpeech: Bool = true
  ) throws -> [TestMedia.Piece] {
    var settings = OpusEncoder.Settings()
    settings.channels = channels
    settings.bitrate = bitrate
    settings.isForSpeech = isForSpeech
    settings.correctsErrors = correctsErrors
    settings.expectedLoss = correctsErrors ? 20 : 0
    let kind = Kind(
      ticks: ticks, channels: channels, correctsErrors: correctsErrors, bitrate: bitrate, isForSpeech: isForSpeech)
    let packets = try known[
      kind,
      {
        let encoder = try OpusEncoder(settings)
        return { index in
          let part = try voice[index * ticks..<(index + 1) * ticks]
          let audio = AudioSamples(
            samples: channels == 1 ? part : part.flatMap { [$0, $0 * 0.8] }, channels: channels)
          return TestMedia.Piece(ticks: Int64(index * ticks), payload: try encoder.encode(audio))
        }
      }]
    return try packets.prefix(Int(seconds * 48_000) / ticks)
  }

  private struct Kind: Hashable {
    var ticks: Int
    var channels: Int
    var correctsErrors: Bool
    var bitrate: Int
    var isForSpeech: Bool
  }

  private static let known = GrowingSequences<Kind, TestMedia.Piece>()

  /// The audio itself, in one channel.
  private static let voice = GrowingSequence<Float> {
    let harmonics = [1.0, 2, 4, 5, 9, 10, 19].map { ($0, 1 / (1 + abs($0 - 5) / 4)) }
    var phase = 0.0
    return { index in
      let time = Double(index) / 48_000
      phase += 2 * .pi * (130 + 25 * sin(4.4 * time)) / 48_000
      // Three syllables a second that never become completely silent.
      let loudness = 0.25 + 0.2 * sin(18.8 * time)
      var value = 0.0
      for (number, weight) in harmonics { value += weight * sin(number * phase) }
      return Float(loudness * value / 3)
    }
  }
}
