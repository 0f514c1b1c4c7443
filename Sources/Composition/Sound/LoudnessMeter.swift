internal import Glibc

/// Measures loudness as ITU-R BS.1770-4 does: K-weighting, blocks of 400 ms every 100 ms, of which silence and what is 10 LU below
/// the others are left out. Its memory does not grow.
package struct LoudnessMeter: Sendable {
  /// The loudness to which `--level` brings speech, in LUFS.
  package static let speechTarget = -20.0
  /// The largest change in dB by which that is done: more would raise noise.
  package static let maximumChange = 20.0

  /// 100 ms.
  private static let step = SoundClock.rate / 10
  /// Blocks below this loudness are silence, in LUFS.
  private static let absoluteGate = -70.0
  /// Blocks that are by this quieter than the mean of all are left out, in LU.
  private static let relativeGate = -10.0
  /// Classes of 0.1 LU from the absolute gate up.
  private static let classes = 1_000

  private var filters = [KWeighting(), KWeighting()]
  /// The energy of the step so far, and its samples.
  private var energy = 0.0
  private var count = 0
  /// The energies of the last three steps.
  private var last = [0.0, 0.0, 0.0]
  private var steps = 0
  private var blocks = [(count: Int, energy: Double)](repeating: (0, 0), count: classes)

  package init() {}

  /// Adds samples of two channels, interleaved.
  package mutating func add(_ samples: UnsafeBufferPointer<Float>) {
    for index in 0..<samples.count / SoundClock.channels {
      let left = filters[0].next(Double(samples[2 * index]))
      let right = filters[1].next(Double(samples[2 * index + 1]))
      energy += left * left + right * right
      count += 1
      if count == Self.step { endStep() }
    }
  }

  private mutating func endStep() {
    let mean = energy / Double(count)
    (energy, count) = (0, 0)
    steps = min(steps + 1, 4)
    let block = (last[0] + last[1] + last[2] + mean) / 4
    last = [last[1], last[2], mean]
    guard steps == 4 else { return }
    let loudness = Self.loudness(block)
    guard loudness >= Self.absoluteGate else { return }
    let place = min(Self.classes - 1, max(0, Int((loudness - Self.absoluteGate) * 10)))
    blocks[place].count += 1
    blocks[place].energy += block
  }

  /// The loudness of everything so far in LUFS; nil if all is silence.
  package var loudness: Double? {
    guard let all = Self.mean(blocks[...]) else { return nil }
    let gate = Self.loudness(all) + Self.relativeGate
    let first = min(Self.classes - 1, max(0, Int(((gate - Self.absoluteGate) * 10).rounded(.up))))
    return Self.mean(blocks[first...]).map(Self.loudness)
  }

  /// The factor by which speech of a loudness has ``speechTarget``, within ``maximumChange``; 1 for silence.
  package static func gain(for loudness: Double?) -> Float {
    guard let loudness else { return 1 }
    let change = min(max(speechTarget - loudness, -maximumChange), maximumChange)
    return Float(pow(10, change / 20))
  }

  private static func mean(_ blocks: ArraySlice<(count: Int, energy: Double)>) -> Double? {
    let count = blocks.reduce(0) { $0 + $1.count }
    return count == 0 ? nil : blocks.reduce(0) { $0 + $1.energy } / Double(count)
  }

  private static func loudness(_ energy: Double) -> Double {
    energy > 0 ? -0.691 + 10 * log10(energy) : -.infinity
  }
}

/// The weighting of a channel at 48 kHz: a high shelf for the head, and a high pass (ITU-R BS.1770-4, annex 1).
private struct KWeighting: Sendable {
  private var shelf = (0.0, 0.0)
  private var pass = (0.0, 0.0)

  mutating func next(_ input: Double) -> Double {
    // Transposed direct form II.
    let shelved = 1.53512485958697 * input + shelf.0
    shelf.0 = -2.69169618940638 * input + 1.69065929318241 * shelved + shelf.1
    shelf.1 = 1.19839281085285 * input - 0.73248077421585 * shelved
    let output = shelved + pass.0
    pass.0 = -2 * shelved + 1.99004745483398 * output + pass.1
    pass.1 = shelved - 0.99007225036621 * output
    return output
  }
}
