package import Codecs

/// Finds the marks of `PatternAudio` in audio that has been through a codec and over a line.
///
/// A mark is found by its two chirps, of which one is enough, and trusted by its eight symbols, of which five must be clear
/// and belong together.
package struct PatternAudioReader: Sendable {
  /// A hole up to this length is treated as silence; after a longer one everything starts again.
  private static let maximumHole: Int64 = 48_000
  /// How like a chirp a place must be to be looked at, and to be trusted with two symbols less.
  private static let plausible: Float = 0.25
  private static let convincing: Float = 0.5
  /// How much of a symbol's energy its tone must have to be clear.
  private static let clear: Float = 0.3
  private static let fewestSymbols = 5
  /// Which distance two marks have at least, in samples of 8 kHz.
  private static let distance = 4_000
  /// How far around a plausible place the best is looked for, in samples of 8 kHz: 3 ms.
  private static let vicinity = 24
  /// How many samples of 8 kHz are stepped over in the search.
  private static let step = 2

  /// Times beyond this, 190,000 years, are held to it.
  private static let farthest: Int64 = 1 << 58

  private static let length = PatternMark.length / PatternFilter.factor
  private static let secondChirp = PatternMark.secondChirp / PatternFilter.factor

  private let filter = PatternFilter()
  /// Audio at 48 kHz that is not filtered yet; its first sample lies `PatternFilter.connectionSettings` before the next to be made.
  private var raw: [Float] = []
  /// The time of the next sample that comes in; nil before the first.
  private var expected: Int64?
  /// Filtered audio at 8 kHz, and the time of its first sample at 48 kHz.
  private var samples: [Float] = []
  private var start: Int64 = 0
  /// From which filtered sample on is searched.
  private var next = 0

  package init() {}

  /// Takes the next piece of audio.
  ///
  /// - Parameters:
  ///   - audio: of any length.
  ///   - time: of its first sample, counted at 48 kHz on any time line. What lies before the end of the piece before is
  ///     skipped.
  /// - Returns: the marks that have become certain: each up to a quarter of a second after it began.
  package mutating func read(_ audio: AudioSamples, at time: Int64) -> [DetectedMark] {
    let time = min(max(time, -Self.farthest), Self.farthest)
    var mono = audio.mono
    if let expected, abs(time - expected) <= Self.maximumHole {
      if time < expected { mono.removeFirst(min(mono.count, Int(expected - time))) }
      if time > expected { raw.append(contentsOf: repeatElement(0, count: Int(time - expected))) }
      self.expected = max(time, expected) + Int64(mono.count)
    } else {
      raw = [Float](repeating: 0, count: PatternFilter.connectionSettings)
      samples = []
      start = time
      next = 0
      expected = time + Int64(mono.count)
    }
    raw.append(contentsOf: mono)
    reduce()
    return search()
  }

  /// Finds what lies in the last quarter of a second, once nothing more comes.
  package mutating func finish() -> [DetectedMark] {
    guard let expected else { return [] }
    return read(AudioSamples(samples: [Float](repeating: 0, count: 12_000), channels: 1), at: expected)
  }

  /// Filters what has come.
  private mutating func reduce() {
    let window = 2 * PatternFilter.connectionSettings + 1
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
        // Where a whole chirp would fit and nothing is heard, none begins within the next half of its length.
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

  /// How like the two chirps of a mark that begins here are.
  private func chirps(at position: UnsafePointer<Float>) -> Float {
    MatchedFilter.rising.likeness(to: position) + MatchedFilter.falling.likeness(to: position + Self.secondChirp)
  }

  /// The number of a mark that begins here, and how many symbols speak for it; nil where they are too few.
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
  /// Both channels as one.
  fileprivate var mono: [Float] {
    if channels == 1 { return samples }
    return (0..<count).map { index in
      (0..<channels).reduce(0) { $0 + samples[index * channels + $1] } / Float(channels)
    }
  }
}

/// A mark that was found in audio.
package struct DetectedMark: Sendable, Hashable {
  /// Where it begins: the sample's number, at 48 kHz, on the time line of the audio that was read.
  package var time: Int64
  /// Which full second of the sender's clock it stands for: seconds since 1970, modulo 256.
  package var second: UInt8
  /// How many of its eight symbols were clear and right, 5 to 8.
  package var symbols: Int

  package init(time: Int64, second: UInt8, symbols: Int) {
    self.time = time
    self.second = second
    self.symbols = symbols
  }
}
