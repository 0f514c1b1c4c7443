import Composition
import Foundation
import TestSupport
import Testing

@Suite("the limiter and the mix")
struct SoundLimiterTests {
  /// Mixes users in blocks of a length and returns one channel, without the latency.
  private func mix(_ users: [[Float]], block: Int = 960, gain: Float = 1) -> (samples: [Float], mix: SoundMix) {
    let count = users.map(\.count).max() ?? 0
    let padded = users.map { $0 + [Float](repeating: 0, count: count + SoundMix.latency - $0.count) }
    var mix = SoundMix()
    var output: [Float] = []
    for start in stride(from: 0, to: count + SoundMix.latency, by: block) {
      let end = min(start + block, count + SoundMix.latency)
      mix.begin(end - start)
      for (user, sound) in zip(padded, users) {
        let stereo = user[start..<end].flatMap { [$0, $0] }
        let heard = 0..<max(0, min(sound.count, end) - start)
        stereo.withUnsafeBufferPointer { mix.add($0, heard: [heard], gain: gain) }
      }
      let samples = mix.end()
      output += stride(from: 0, to: samples.count, by: 2).map { samples[$0] }
    }
    return (Array(output.dropFirst(SoundMix.latency)), mix)
  }

  private func tone(_ frequency: Double, level: Double, seconds: Double, phase: Double = 0) -> [Float] {
    (0..<Int(seconds * 48_000)).map { Float(level * sin(2 * .pi * frequency * Double($0) / 48_000 + phase)) }
  }

  /// The level of the tone of a frequency in a part, as an amplitude.
  private func level(of frequency: Double, in samples: ArraySlice<Float>) -> Double {
    var (cosine, sine) = (0.0, 0.0)
    for (index, sample) in zip(samples.indices, samples) {
      let angle = 2 * .pi * frequency * Double(index) / 48_000
      cosine += Double(sample) * cos(angle)
      sine += Double(sample) * sin(angle)
    }
    return 2 * (cosine * cosine + sine * sine).squareRoot() / Double(samples.count)
  }

  @Test("One user alone stays as decoded, also at full scale, whatever the length of blocks") func alone() {
    let user = tone(440, level: 1, seconds: 0.5)
    for block in [1, 77, 960, 4_800] {
      let (samples, mix) = mix([user], block: block)
      #expect(samples == user)
      #expect(mix.greatestReduction == 0)
    }
  }

  @Test("Several users whose sum is quiet are added as they are") func quiet() {
    let (one, other) = (tone(440, level: 0.3, seconds: 0.2), tone(700, level: 0.3, seconds: 0.1))
    let (samples, mix) = mix([one, other])
    let sum = one.indices.map { one[$0] + ($0 < other.count ? other[$0] : 0) }
    #expect(samples == sum)
    #expect(mix.greatestReduction == 0)
  }

  @Test("Four users at full scale stay below -1 dBFS, from the first sample on") func chorus() {
    let users = [110, 230, 440, 901].map { tone($0, level: 1, seconds: 2, phase: .pi / 2) }
    let (samples, mix) = mix(users)
    let limit = Float(pow(10, -1.0 / 20))
    #expect(samples.allSatisfy { abs($0) < limit })
    #expect(mix.peak < limit && mix.peak > 0.8)
    #expect((12.5...13.5).contains(mix.greatestReduction))
    // Below -1 dBFS as 16 bits, too.
    #expect(samples.allSatisfy { abs(($0 * 32_767).rounded()) / 32_767 < limit })
  }

  @Test("Noise of any level and length of blocks stays below -1 dBFS, and blocks change nothing")
  func noise() {
    var random = SeededGenerator(seed: 5)
    let users = (0..<3).map { _ in
      (0..<20_000).map { index in Float.random(in: -1...1, using: &random) * Float(index % 5_000) / 5_000 }
    }
    let (whole, _) = mix(users, block: 100_000)
    #expect(whole.allSatisfy { abs($0) < SoundLimiter.ceiling + 1e-6 })
    for block in [13, 240, 1_000] { #expect(mix(users, block: block).samples == whole) }
  }

  @Test("A steady tone beside bursts keeps its level outside of them: nothing pumps") func bursts() {
    let steady = tone(1_000, level: 0.25, seconds: 4)
    var burst = tone(300, level: 1, seconds: 4)
    // 200 ms of each second.
    for index in burst.indices where !(9_600..<19_200).contains(index % 48_000) { burst[index] = 0 }
    let (samples, mix) = mix([steady, burst, burst])
    #expect(mix.greatestReduction > 6)
    // From the end of the release, which is 100 ms and the look-ahead, until the look-ahead of the next burst.
    for second in 0..<4 {
      for start in stride(from: 19_200 + 5_040, to: 48_000 + 9_600 - 240 - 480, by: 480) {
        let first = second * 48_000 + start
        guard first + 480 <= samples.count else { continue }
        let change = 20 * log10(level(of: 1_000, in: samples[first..<first + 480]) / 0.25)
        #expect(abs(change) < 0.01, "at \(first)")
      }
    }
  }

  @Test("A peak is reduced within the 5 ms before it, and the gain is 1 again after 100 ms") func times() {
    let steady = [Float](repeating: 0.5, count: 20_000)
    var peak = [Float](repeating: 0, count: 20_000)
    peak[8_000] = 1
    let (samples, mix) = mix([steady, peak])
    let changed = samples.indices.filter { samples[$0] != 0.5 }
    #expect(changed.first == 8_000 - SoundLimiter.latency)
    #expect((8_000 + 4_800..<8_000 + 4_800 + 480).contains(changed.last ?? 0))
    #expect(abs(samples[8_000] - SoundLimiter.ceiling) < 1e-5)
    #expect(abs(mix.greatestReduction - 20 * log10(1.5 / 0.891)) < 0.01)
    // No step is heard.
    for index in samples.indices.dropFirst() where index != 8_000 && index != 8_001 {
      #expect(abs(samples[index] - samples[index - 1]) < 0.002)
    }
  }

  @Test("What is no number, or beyond full scale, becomes a sample") func damaged() {
    let user: [Float] = [.nan, .infinity, -.infinity, 3, -3, 0.25]
    #expect(mix([user]).samples == [0, 1, -1, 1, -1, 0.25])
    #expect(mix([user, user]).samples.allSatisfy { abs($0) <= 1 })
  }

  @Test("One user alone is as decoded, and below -1 dBFS where another one is there, who is silent") func silence() {
    let loud = tone(500, level: 1, seconds: 0.5)
    let (samples, _) = mix([loud, [Float](repeating: 0, count: 4_800)])
    #expect(samples[..<4_800].allSatisfy { abs($0) < SoundLimiter.ceiling + 1e-6 })
    #expect(samples[(4_800 + 5_040)...] == loud[(4_800 + 5_040)...])
  }

  @Test("A gain of a user changes that user only") func gains() {
    let (samples, _) = mix([[0.1, 0.2], []], gain: 2)
    #expect(samples == [0.2, 0.4])
  }
}
