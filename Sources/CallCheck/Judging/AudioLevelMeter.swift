import Codecs
import Glibc

/// Measures how loud audio is, and where it is silent or clipped.
struct AudioLevelMeter: Sendable {
  /// Audio below this root mean square is silent: -60 dB.
  private static let silent = 0.001
  /// The shortest silence that is reported, in seconds.
  static let minimumSilence = 0.1
  /// A sample of this magnitude is at full scale; encoders change the peaks of waves slightly.
  private static let fullScale: Float = 0.99
  /// A block is clipped if one of this many samples is at full scale.
  private static let clippedShare = 100
  /// The length of a block, in samples at 48 kHz.
  private static let block = 960

  /// An interval without audio. Until it is decided, it is not known for how long the sender sent nothing in it.
  struct UndecidedInterval: Sendable {
    let number: Int
    let start: Double
    let duration: Double
  }

  private struct Silence: Sendable {
    var start: Double
    var duration = 0.0
    /// The intervals without audio within it.
    var undecided: [UndecidedInterval] = []

    /// Decides for how long an interval was silent.
    ///
    /// - Returns: whether it is an interval of this silence.
    mutating func decide(_ number: Int, silent: Double) -> Bool {
      guard let index = undecided.firstIndex(where: { $0.number == number }) else { return false }
      let interval = undecided.remove(at: index)
      // Audio that was delayed is no silence, and the silence may begin after it.
      if silent <= 0, start == interval.start { start += interval.duration }
      duration += max(0, silent)
      return true
    }
  }

  private var energy = 0.0
  private var samples = 0
  private var largest: Float = 0
  private var silences = IntervalLog(minimumDuration: minimumSilence)
  private var clippings = IntervalLog()
  private var silence: Silence?
  /// Earlier silences with intervals that are not yet decided.
  private var undecidedSilences: [Silence] = []
  private var clipping: (start: Double, duration: Double)?

  /// Measures the next audio.
  ///
  /// - Parameter time: when it is heard.
  /// - Returns: its mean square.
  @discardableResult
  mutating func add(_ audio: AudioSamples, at time: Double) -> Double {
    var first = 0
    var whole = 0.0
    while first < audio.count {
      let count = min(Self.block, audio.count - first)
      whole += add(
        audio.samples[first * audio.channels..<(first + count) * audio.channels], count: count,
        at: time + seconds(first))
      first += count
    }
    return audio.samples.isEmpty ? 0 : whole / Double(audio.samples.count)
  }

  /// Records an interval without audio.
  mutating func addNothing(for duration: Double, at time: Double) {
    guard duration > 0 else { return }
    silence = extendedSilence(by: duration, at: time)
    endClipping()
  }

  /// Records an interval without audio that belongs to a silence if the sender sent nothing in it.
  mutating func addUndecided(_ interval: UndecidedInterval) {
    var current = silence ?? Silence(start: interval.start)
    current.undecided.append(interval)
    silence = current
    endClipping()
  }

  /// Decides for how long the sender sent nothing in an interval without audio.
  mutating func decide(_ number: Int, silent: Double) {
    if silence?.decide(number, silent: silent) == true { return }
    for index in undecidedSilences.indices {
      guard undecidedSilences[index].decide(number, silent: silent) else { continue }
      guard undecidedSilences[index].undecided.isEmpty else { return }
      let decided = undecidedSilences.remove(at: index)
      silences.add(start: decided.start, duration: decided.duration)
      return
    }
  }

  private func extendedSilence(by duration: Double, at time: Double) -> Silence {
    var extended = silence ?? Silence(start: time)
    extended.duration += duration
    return extended
  }

  private mutating func add(_ block: ArraySlice<Float>, count: Int, at time: Double) -> Double {
    var squares: Float = 0
    var top: Float = 0
    var full = 0
    block.withUnsafeBufferPointer { block in
      for sample in block {
        let size = abs(sample)
        squares += sample * sample
        top = max(top, size)
        if size >= Self.fullScale { full += 1 }
      }
    }
    energy += Double(squares)
    samples += block.count
    largest = max(largest, top)
    let length = seconds(count)
    if (Double(squares) / Double(max(1, block.count))).squareRoot() < Self.silent {
      silence = extendedSilence(by: length, at: time)
    } else {
      endSilence()
    }
    if full * Self.clippedShare >= block.count {
      clipping = clipping.map { ($0.start, $0.duration + length) } ?? (time, length)
    } else {
      endClipping()
    }
    return Double(squares)
  }

  private func seconds(_ ticks: Int) -> Double { Double(ticks) / Double(AudioSamples.rate) }

  private mutating func endSilence() {
    guard let ended = silence else { return }
    silence = nil
    if ended.undecided.isEmpty {
      silences.add(start: ended.start, duration: ended.duration)
    } else {
      undecidedSilences.append(ended)
    }
  }

  private mutating func endClipping() {
    if let clipping { clippings.add(start: clipping.start, duration: clipping.duration) }
    clipping = nil
  }

  /// Ends the current silence and clipping.
  mutating func end() {
    endSilence()
    endClipping()
  }

  /// The level in dB relative to full scale.
  var level: Double { decibels(amplitude: (energy / Double(max(1, samples))).squareRoot()) }

  var peak: Double { decibels(amplitude: Double(largest)) }

  func silences(of duration: Double) -> IntervalSummary { silences.intervals(of: duration) }

  func clipped(of duration: Double) -> IntervalSummary { clippings.intervals(of: duration) }
}

/// Returns the logarithm to base 10.
func decadicLogarithm(_ value: Double) -> Double { log10(value) }

/// Returns an amplitude, where 1 is full scale, in dB; at least -96.
func decibels(amplitude: Double) -> Double {
  amplitude > 0 ? max(-96, 20 * log10(amplitude)) : -96
}
