package import Codecs

/// Finds the marks of `PatternAudio` in audio that has passed through a codec and a network.
///
/// A mark is detected by its two chirps, one of which is enough, and confirmed by its eight symbols, of which at least
/// five must be clear and consistent.
package struct PatternAudioReader: Sendable {
  /// A gap of up to this many samples is treated as silence; after a longer one the reader restarts.
  private static let maximumHole: Int64 = 48_000
  /// The correlation with the chirps that makes a position a candidate, and the one that makes it credible with two
  /// symbols fewer.
  private static let plausible: Float = 0.25
  private static let convincing: Float = 0.5
  /// The share of a symbol's energy that its tone must have to be clear.
  private static let clear: Float = 0.3
  private static let fewestSymbols = 5
  /// The minimum distance of two marks, in samples at 8 kHz.
  private static let distance = 4_000
  /// How far after a candidate position the best one is searched, in samples at 8 kHz: 3 ms.
  private static let vicinity = 24
  /// The step of the search, in samples at 8 kHz.
  private static let step = 2

  /// Times are clamped to this limit of 190,000 years.
  private static let farthest: Int64 = 1 << 58

  private static let length = PatternMark.length / PatternFilter.factor
  private static let secondChirp = PatternMark.secondChirp / PatternFilter.factor

  private let filter = PatternFilter()
  /// Audio at 48 kHz that is not filtered yet; its first sample is `PatternFilter.halfLength` samples before the
  /// next one to be filtered.
  private var raw: [Float] = []
  /// The expected time of the next input sample; nil before the first.
  private var expected: Int64?
  /// Filtered audio at 8 kHz, and the time of its first sample at 48 kHz.
  private var samples: [Float] = []
  private var start: Int64 = 0
  /// The index of the filtered sample at which the search continues.
  private var next = 0

  package init() {}

  /// Reads the next piece of audio.
  ///
  /// - Parameters:
  ///   - audio: a piece of any length.
  ///   - time: the time of its first sample, counted at 48 kHz on any timeline. Audio before the end of the previous
  ///     piece is skipped.
  /// - Returns: the marks that have become certain, each at most a quarter of a second after its start.
  package mutating func read(_ audio: AudioSamples, at time: Int64) -> [DetectedMark] {
    let time = min(max(time, -Self.farthest), Self.farthest)
    var mono = audio.mono
    if let expected, abs(time - expected) <= Self.maximumHole {
      if time < expected { mono.removeFirst(min(mono.count, Int(expected - time))) }
      if time > expected { raw.append(contentsOf: repeatElement(0, count: Int(time - expected))) }
      self.expected = max(time, expected) + Int64(mono.count)
    } else {
      raw = [Float](repeating: 0, count: PatternFilter.halfLength)
      samples = []
      start = time
      next = 0
      expected = time + Int64(mono.count)
    }
    raw.append(contentsOf: mono)
    reduce()
    return search()
  }

  /// Returns the marks in the last quarter of a second, at the end of the audio.
  package mutating func finish() -> [DetectedMark] {
    guard let expected else { return [] }
    return read(AudioSamples(samples: [Float](repeating: 0, count: 12_000), channels: 1), at: expected)
  }

  /// Filters the audio received so far.
  private mutating func reduce() {
    let window = 2 * PatternFilter.halfLength + 1
    var used = 0
    raw.withUnsafeBufferPointer { raw in
      guard let first = raw.baseAddress else { return }
      while used + window <= raw.count {
        samples.append(filter.sample(first + used))
        used += PatternFilter.factor
      }
    }
    raw.removeFirst(used)
  }

  private mutating func search() -> [DetectedMark] {
    var marks: [DetectedMark] = []
    samples.withUnsafeBufferPointer { samples in
      guard let first = samples.baseAddress else { return }
      let end = samples.count - Self.length - Self.vicinity
      while next < end {
        // If the audio is silent where both chirps would be, no mark begins within the next half of a chirp.
        if MatchedFilter.rising.isQuiet(first + next),
          MatchedFilter.falling.isQuiet(first + next + Self.secondChirp)
        {
          next += MatchedFilter.rising.count / 2
          continue
        }
        guard chirps(at: first + next) >= Self.plausible else {
          next += Self.step
          continue
        }
        let positions = next..<next + Self.vicinity
        let best = positions.max { chirps(at: first + $0) < chirps(at: first + $1) } ?? next
        if let found = symbols(at: first + best, likeness: chirps(at: first + best)) {
          let time = start + Int64(best * PatternFilter.factor)
          marks.append(DetectedMark(time: time, second: found.number, symbols: found.right))
          next = best + Self.distance
        } else {
          next = best + Self.vicinity
        }
      }
    }
    let done = min(next, samples.count)
    samples.removeFirst(done)
    start += Int64(done * PatternFilter.factor)
    next -= done
    return marks
  }

  /// Returns the correlation with the two chirps of a mark that begins here.
  private func chirps(at position: UnsafePointer<Float>) -> Float {
    MatchedFilter.rising.likeness(to: position) + MatchedFilter.falling.likeness(to: position + Self.secondChirp)
  }

  /// Returns the number of a mark that begins here, and how many symbols agree with it; nil if these are too few.
  private func symbols(at position: UnsafePointer<Float>, likeness: Float) -> (number: UInt8, right: Int)? {
    let shares = (0..<PatternMark.symbols).map { index in
      let symbol = position + PatternMark.start(ofSymbol: index) / PatternFilter.factor
      return MatchedFilter.tones.map { $0.likeness(to: symbol) }
    }
    let clearest = shares.map { shares in
      shares.indices.max { shares[$0] < shares[$1] }.flatMap { shares[$0] >= Self.clear ? $0 : nil }
    }
    var best = (number: UInt8(0), right: 0)
    for number in UInt8.min...UInt8.max {
      let right = zip(PatternMark.codeWord(number), clearest).filter { $0 == $1 }.count
      if right > best.right { best = (number, right) }
    }
    let needed = Self.fewestSymbols + (likeness >= Self.convincing ? 0 : 2)
    return best.right >= needed ? best : nil
  }
}

extension AudioSamples {
  /// The mean of all channels.
  fileprivate var mono: [Float] {
    if channels == 1 { return samples }
    return (0..<count).map { index in
      (0..<channels).reduce(0) { $0 + samples[index * channels + $1] } / Float(channels)
    }
  }
}

/// A mark that was detected in audio.
package struct DetectedMark: Sendable, Hashable {
  /// The start of the mark: a sample number at 48 kHz on the timeline of the audio.
  package var time: Int64
  /// The full second of the sender's clock that the mark encodes: seconds since 1970, modulo 256.
  package var second: UInt8
  /// How many of its eight symbols were clear and correct, 5 to 8.
  package var symbols: Int

  package init(time: Int64, second: UInt8, symbols: Int) {
    self.time = time
    self.second = second
    self.symbols = symbols
  }
}
