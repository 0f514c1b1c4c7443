/// Adds the sound of all users, block by block, and holds the peaks below -1 dBFS.
///
/// ```
///   begin(count) ─► add(run) for each user ─► end() ─► samples, `latency` samples later than what was added
/// ```
package struct SoundMix: Sendable {
  private var limiter = SoundLimiter()
  private var samples: [Float] = []
  private var voices: [UInt8] = []

  package init() {}

  /// The samples by which the output is later than the input.
  package static var latency: Int { SoundLimiter.latency }

  package var peak: Float { limiter.peak }
  package var greatestReduction: Double { limiter.greatestReduction }

  /// Begins a block of silence.
  ///
  /// - Parameter count: the number of samples in each channel.
  package mutating func begin(_ count: Int) {
    samples = [Float](repeating: 0, count: max(0, count) * SoundClock.channels)
    voices = [UInt8](repeating: 0, count: max(0, count))
  }

  /// Adds the sound of one user, all streams together. What is outside of the block is left out.
  ///
  /// - Parameters:
  ///   - sound: two channels, interleaved, from the block's start on.
  ///   - heard: the parts in which a stream has sound, silence included, of each stream, in samples from the block's start.
  ///   - gain: the factor by which it is multiplied.
  package mutating func add(_ sound: UnsafeBufferPointer<Float>, heard: [Range<Int>], gain: Float) {
    let count = min(voices.count, sound.count / SoundClock.channels)
    samples.withUnsafeMutableBufferPointer { samples in
      for index in 0..<count * SoundClock.channels { samples[index] += sound[index] * gain }
    }
    voices.withUnsafeMutableBufferPointer { voices in
      for range in heard {
        for index in range.clamped(to: 0..<count) where voices[index] < 2 { voices[index] += 1 }
      }
    }
  }

  /// Ends the block and returns as many samples, interleaved.
  package mutating func end() -> [Float] {
    limiter.process(&samples, voices: voices)
    defer { samples = [] }
    return samples
  }
}
