internal import Glibc

/// Holds the peaks of several users below -1 dBFS, without lowering anything else.
///
/// The gain falls linearly within the 5 ms before a peak, and rises within the 100 ms after it, however low it was. Both channels
/// have the same gain. Where there is the sound of one stream only, no gain is requested: its samples stay as they were decoded.
///
/// ```
///   required gain ──► minimum of the next 5 ms ──► rises slowly ──► mean of the last 5 ms ──► gain
/// ```
package struct SoundLimiter: Sendable {
  /// 5 ms.
  package static let lookAhead = SoundClock.rate / 200
  /// 100 ms.
  package static let release = SoundClock.rate / 10
  /// Slightly below -1 dBFS, so that rounding to 16 bits stays below it.
  package static let ceiling: Float = 0.891
  /// The samples by which the output is later than the input.
  package static let latency = lookAhead - 1

  /// Gains are whole numbers, so that sums of them are exact: this is a gain of 1.
  private static let unit: Int64 = 1 << 30

  /// The last `latency` samples of the input, as a ring.
  private var delayed = [Float](repeating: 0, count: latency * SoundClock.channels)
  /// The number of input samples so far.
  private var position = 0
  /// The samples of the next 5 ms whose required gain is less than that of all after them, with ascending gains, as a ring.
  private var minima: [(position: Int, gain: Int64)]
  private var firstMinimum = 0
  private var minimumCount = 0
  /// The gain that falls at once and rises slowly.
  private var envelope = unit
  /// By how much it rises at each sample.
  private var step: Int64 = 0
  /// The last `lookAhead` values of `envelope`, as a ring, and their sum.
  private var envelopes = [Int64](repeating: unit, count: lookAhead)
  private var sum = unit * Int64(lookAhead)

  /// The lowest gain so far: 1 if nothing was changed.
  package private(set) var minimumGain = 1.0
  /// The largest peak of the output so far.
  package private(set) var peak: Float = 0

  package init() {
    minima = [(Int, Int64)](repeating: (0, 0), count: Self.lookAhead + 1)
  }

  /// The greatest reduction so far in dB, 0 or more.
  package var greatestReduction: Double { minimumGain < 1 ? -20 * log10(max(minimumGain, 1e-10)) : 0 }

  /// Replaces the samples by those `latency` samples before them; before the first one there is silence.
  ///
  /// - Parameters:
  ///   - samples: two channels, interleaved.
  ///   - voices: how many streams have sound in each sample of both channels.
  package mutating func process(_ samples: inout [Float], voices: [UInt8]) {
    let count = min(samples.count / SoundClock.channels, voices.count)
    samples.withUnsafeMutableBufferPointer { samples in
      voices.withUnsafeBufferPointer { voices in
        for index in 0..<count {
          let (left, right) = (samples[2 * index], samples[2 * index + 1])
          let peak = max(abs(left), abs(right))
          let isTooLoud = voices[index] > 1 && peak > Self.ceiling
          let gain = next(isTooLoud ? Int64(Double(Self.ceiling) / Double(peak) * Double(Self.unit)) : Self.unit)
          let place = position % Self.latency * 2
          samples[2 * index] = shaped(delayed[place], gain)
          samples[2 * index + 1] = shaped(delayed[place + 1], gain)
          delayed[place] = left
          delayed[place + 1] = right
          position += 1
        }
      }
    }
  }

  /// Returns the gain of the sample `latency` before the one that requires a gain.
  private mutating func next(_ required: Int64) -> Int64 {
    while minimumCount > 0, minima[(firstMinimum + minimumCount - 1) % minima.count].gain >= required {
      minimumCount -= 1
    }
    minima[(firstMinimum + minimumCount) % minima.count] = (position, required)
    minimumCount += 1
    if minima[firstMinimum].position < position - Self.latency {
      firstMinimum = (firstMinimum + 1) % minima.count
      minimumCount -= 1
    }
    let target = minima[firstMinimum].gain
    if target <= envelope {
      envelope = target
      step = (Self.unit - target + Int64(Self.release) - 1) / Int64(Self.release)
    } else {
      envelope = min(target, envelope + step)
    }
    let place = position % Self.lookAhead
    sum += envelope - envelopes[place]
    envelopes[place] = envelope
    return sum
  }

  /// - Parameter gain: a sum of `lookAhead` gains.
  private mutating func shaped(_ sample: Float, _ gain: Int64) -> Float {
    var sample = sample
    if gain != Self.unit * Int64(Self.lookAhead) {
      let factor = Double(gain) / Double(Self.unit * Int64(Self.lookAhead))
      minimumGain = min(minimumGain, factor)
      sample *= Float(factor)
    }
    // What is not a number is silence.
    sample = sample.isNaN ? 0 : min(max(sample, -1), 1)
    peak = max(peak, abs(sample))
    return sample
  }
}
