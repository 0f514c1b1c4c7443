package import Codecs

/// Finds the marks of `PatternAudio` in audio that has passed through a codec and a network.
///
/// A mark is detected by its two chirps, one of which is enough, and confirmed by its eight symbols, of which at least
/// five must be clear and consistent.
///
/// A receiver inserts and removes audio, which moves a part of the mark. Symbols that all moved by one place agree with
/// those of another number in seven places. So if only one chirp is where it should be, the other is searched nearby, and
/// the symbols may have moved with it from any of them on.
package struct PatternAudioReader: Sendable {
  /// A gap of up to this many samples is treated as silence; after a longer one the reader restarts.
  private static let maximumHole: Int64 = 48_000
  /// The correlation with the chirps that makes a position a candidate, and the one that makes it credible with two
  /// symbols fewer.
  private static let plausible: Float = 0.25
  private static let convincing: Float = 0.5
  /// The correlation with each chirp that shows that both are there.
  private static let complete: Float = 0.25
  /// How far a part of a mark may have moved, in samples at 8 kHz: 45 ms.
  private static let maximumShift = 360
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
  /// - Returns: the marks that have become certain, each at most 0.32 s after its start.
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

  /// Returns the marks in the last 0.3 s, at the end of the audio.
  package mutating func finish() -> [DetectedMark] {
    guard let expected else { return [] }
    return read(AudioSamples(samples: [Float](repeating: 0, count: 14_400), channels: 1), at: expected)
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
      let end = samples.count - Self.length - Self.vicinity - Self.maximumShift
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
        if let found = number(at: best, in: samples) {
          let time = start + Int64(found.place * PatternFilter.factor)
          marks.append(DetectedMark(time: time, second: found.number, symbols: found.right))
          next = best + Self.distance
        } else {
          next = best + Self.vicinity
        }
      }
    }
    let done = min(max(0, next - Self.maximumShift), samples.count)
    samples.removeFirst(done)
    start += Int64(done * PatternFilter.factor)
    next -= done
    return marks
  }

  /// Returns the correlation with the two chirps of a mark that begins here.
  private func chirps(at position: UnsafePointer<Float>) -> Float {
    MatchedFilter.rising.likeness(to: position) + MatchedFilter.falling.likeness(to: position + Self.secondChirp)
  }

  /// Returns the number of a mark that begins at `place`, how many symbols agree with it, and where the mark begins if its
  /// first chirp has moved; nil if too few symbols agree, or as many with another number.
  private func number(
    at place: Int, in samples: UnsafeBufferPointer<Float>
  ) -> (number: UInt8, right: Int, place: Int)? {
    guard let begin = samples.baseAddress else { return nil }
    let rising = MatchedFilter.rising.likeness(to: begin + place)
    let falling = MatchedFilter.falling.likeness(to: begin + place + Self.secondChirp)
    // The places from which the symbols near the first and near the second chirp are counted.
    var (first, last) = (place, place)
    if rising >= Self.complete, falling < Self.complete {
      last = self.position(of: .falling, Self.secondChirp, near: place, in: samples)
    } else if falling >= Self.complete, rising < Self.complete {
      first = self.position(of: .rising, 0, near: place, in: samples)
    }
    let symbols = clearestTones(at: begin + first)
    let moved = first == last ? symbols : clearestTones(at: begin + last)
    var best = (number: UInt8(0), right: 0)
    var isUnique = true
    for number in UInt8.min...UInt8.max {
      let word = PatternMark.codeWord(number)
      // All symbols before the change, then all after it.
      var right = zip(word, moved).count { $0 == $1 }
      var most = right
      for (symbol, (before, after)) in zip(word, zip(symbols, moved)) {
        right += (symbol == before ? 1 : 0) - (symbol == after ? 1 : 0)
        most = max(most, right)
      }
      if most == best.right { isUnique = false }
      if most > best.right { (best, isUnique) = ((number, most), true) }
    }
    let needed = Self.fewestSymbols + (rising + falling >= Self.convincing ? 0 : 2)
    return best.right >= needed && isUnique ? (best.number, best.right, first) : nil
  }

  /// Returns where a mark near `place` begins whose chirp is `offset` samples after its beginning; `place` if the chirp is
  /// not found.
  private func position(
    of chirp: MatchedFilter, _ offset: Int, near place: Int, in samples: UnsafeBufferPointer<Float>
  ) -> Int {
    var best = (place: place, likeness: Self.complete)
    let last = min(place + Self.maximumShift, samples.count - Self.length)
    guard let begin = samples.baseAddress else { return place }
    // Not before the first sample, because the symbols are read from the same place.
    for other in stride(from: max(0, place - Self.maximumShift), through: last, by: Self.step) {
      let likeness = chirp.likeness(to: begin + other + offset)
      if likeness >= best.likeness { best = (other, likeness) }
    }
    return best.place
  }

  /// Returns the eight symbols of a mark that begins here; nil for each that is not clear.
  private func clearestTones(at position: UnsafePointer<Float>) -> [Int?] {
    (0..<PatternMark.symbols).map { index in
      let symbol = position + PatternMark.start(ofSymbol: index) / PatternFilter.factor
      let shares = MatchedFilter.tones.map { $0.likeness(to: symbol) }
      return shares.indices.max { shares[$0] < shares[$1] }.flatMap { shares[$0] >= Self.clear ? $0 : nil }
    }
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
