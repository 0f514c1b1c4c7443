package import Codecs

/// The audio of the test pattern: a quiet hum, so that silence can be detected, and at each full second of the sender's
/// clock a mark that encodes the second.
///
/// The audio is described in `docs/pattern.md`, so that programs in other languages can find the marks.
package struct PatternAudio: Sendable {
  package let channels: Int

  /// The amplitudes of a mark and of the hum.
  private static let markLoudness: Float = 0.15
  private static let humLoudness: Float = 0.02

  /// The limit of times: 190,000 years from 1970.
  private static let farthest: Int64 = 1 << 58

  private let rising: [Float]
  private let falling: [Float]
  private let tones: [[Float]]
  private let hum: [Float]

  /// Creates the generator.
  ///
  /// - Parameter channels: 1 or 2; both carry the same audio.
  package init(channels: Int = 1) {
    func loud(_ wave: [Float], _ loudness: Float) -> [Float] { wave.map { $0 * loudness } }
    self.channels = min(max(1, channels), 2)
    rising = loud(Waveform.chirp(rises: true, rate: AudioSamples.rate), Self.markLoudness)
    falling = loud(Waveform.chirp(rises: false, rate: AudioSamples.rate), Self.markLoudness)
    tones = (0..<PatternMark.tones).map { loud(Waveform.tone($0, rate: AudioSamples.rate), Self.markLoudness) }
    hum = loud(Waveform.hum(), Self.humLoudness)
  }

  /// Returns the audio of any interval; it is always the same for the same interval.
  ///
  /// - Parameters:
  ///   - start: the first sample, counted at 48 kHz since 1970 by the sender's clock: 48 times the milliseconds that
  ///     the video frame carries.
  ///   - count: samples of each channel.
  package func audio(from start: Int64, count: Int) -> AudioSamples {
    let count = max(0, count)
    let start = min(max(start, -Self.farthest), Self.farthest)
    var mono = [Float](unsafeUninitializedCapacity: count) { samples, filled in
      var position = Self.position(of: start, in: hum.count)
      for index in 0..<count {
        samples[index] = hum[position]
        position = position + 1 == hum.count ? 0 : position + 1
      }
      filled = count
    }
    // Marks that begin before the interval can reach into it.
    var second = (start - Int64(PatternMark.length)).quotient(by: Int64(AudioSamples.rate))
    while second * Int64(AudioSamples.rate) - start < Int64(count) {
      add(UInt8(truncatingIfNeeded: second), at: Int(second * Int64(AudioSamples.rate) - start), to: &mono)
      second += 1
    }
    if channels == 1 { return AudioSamples(samples: mono, channels: 1) }
    return AudioSamples(samples: mono.flatMap { [$0, $0] }, channels: 2)
  }

  private func add(_ number: UInt8, at position: Int, to samples: inout [Float]) {
    if position + PatternMark.length <= 0 { return }
    add(rising, at: position, to: &samples)
    for (index, symbol) in PatternMark.codeWord(number).enumerated() {
      add(tones[symbol], at: position + PatternMark.start(ofSymbol: index), to: &samples)
    }
    add(falling, at: position + PatternMark.secondChirp, to: &samples)
  }

  private func add(_ wave: [Float], at position: Int, to samples: inout [Float]) {
    let first = max(0, -position)
    let last = min(wave.count, samples.count - position)
    if first >= last { return }
    for index in first..<last { samples[position + index] += wave[index] }
  }

  private static func position(of sample: Int64, in period: Int) -> Int {
    let rest = Int(sample % Int64(period))
    return rest < 0 ? rest + period : rest
  }
}

extension Int64 {
  /// Returns the quotient rounded down, also below zero.
  fileprivate func quotient(by divisor: Int64) -> Int64 {
    let (quotient, rest) = quotientAndRemainder(dividingBy: divisor)
    return rest < 0 ? quotient - 1 : quotient
  }
}
