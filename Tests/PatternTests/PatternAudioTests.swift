import Codecs
import NIOCore
import Pattern
import TestSupport
import Testing

@Suite("The pattern's audio")
struct PatternAudioTests {
  /// A time in samples at 48 kHz since 1970; half a second before a full second.
  private static let start: Int64 = 1_795_280_400_500 * 48

  /// How a network treats audio: each case is a realistic call.
  struct Line: Sendable, CustomTestStringConvertible {
    var name: String
    var channels = 1
    var bitrate = 24_000
    /// The packet loss in percent, and whether Opus uses FEC.
    var loss = 0
    var correctsErrors = false
    var isForSpeech = false
    /// The percentage of marks that must be found.
    var found = 100

    var testDescription: String { name }
  }

  static let lines = [
    Line(name: "mono at 24 kb/s"),
    Line(name: "stereo at 24 kb/s", channels: 2),
    Line(name: "speech at 12 kb/s", bitrate: 12_000, isForSpeech: true),
    Line(name: "mono at 24 kb/s, 10 % lost and concealed", loss: 10, found: 95),
    Line(name: "stereo at 24 kb/s, 10 % lost and concealed", channels: 2, loss: 10, found: 95),
    Line(name: "mono at 24 kb/s, 10 % lost, with copies", loss: 10, correctsErrors: true, found: 80),
    Line(
      name: "speech at 24 kb/s, 10 % lost, with copies", loss: 10, correctsErrors: true, isForSpeech: true, found: 80),
  ]

  @Test("every mark is found within 2 ms and none is misread", arguments: lines)
  func marks(line: Line) throws {
    let seconds = line.loss > 0 ? 40 : 10
    let marks = try heard(seconds: seconds, line: line)
    let lookahead: Int64 = 312
    var worst: Int64 = 0
    for mark in marks {
      let sent = Self.start + mark.time - lookahead
      let second = (sent + 24_000) / 48_000
      worst = max(worst, abs(sent - second * 48_000))
      #expect(mark.second == UInt8(truncatingIfNeeded: second))
    }
    print(
      "measured: audio marks, \(line.name): \(marks.count) of \(seconds) found, worst error \(Double(worst) / 48) ms")
    #expect(worst <= 96)
    #expect(marks.count * 100 >= seconds * line.found)
  }

  @Test("audio that a receiver inserts or removes anywhere in a mark does not make it another number")
  func timeStretching() throws {
    var (found, cases): ([Int: Int], [Int: Int]) = ([:], [:])
    var wrong: [String: UInt8] = [:]
    for second in stride(from: Int64(0), to: 256, by: 41) {
      let begin = Self.start + second * 48_000
      let audio = PatternAudio(channels: 1).audio(from: begin, count: 48_000).samples
      let expected = UInt8(truncatingIfNeeded: (begin + 24_000) / 48_000)
      // The mark begins after half a second and lasts 220 ms.
      for cut in stride(from: 23_760, through: 34_800, by: 480) {
        for change in [-1_920, -960, -480, 480, 960, 1_440, 1_920] {
          var changed = Array(audio[..<cut])
          if change > 0 { changed += audio[(cut - change)..<cut] }
          changed += audio[(cut + max(0, -change))...]
          var reader = PatternAudioReader()
          let marks = reader.read(AudioSamples(samples: changed, channels: 1), at: 0) + reader.finish()
          if let other = marks.first(where: { $0.second != expected })?.second {
            wrong["\(expected), \(change) samples at \(cut)"] = other
          }
          found[change, default: 0] += marks.count { $0.second == expected }
          cases[change, default: 0] += 1
        }
      }
    }
    // At the very beginning of the audio.
    for lead in [0, 100, 700] {
      let audio = PatternAudio(channels: 1).audio(from: Self.start + 24_000 - Int64(lead), count: 48_000).samples
      for removed in stride(from: 1_440, through: 2_400, by: 120) {
        var reader = PatternAudioReader()
        let changed = AudioSamples(samples: Array(audio[..<6_000] + audio[(6_000 + removed)...]), channels: 1)
        let marks = reader.read(changed, at: 0) + reader.finish()
        if let other = marks.first(where: { $0.second != UInt8((Self.start / 48_000 + 1) & 255) })?.second {
          wrong["\(removed) samples removed, \(lead) before the mark"] = other
        }
      }
    }
    #expect(wrong == [:])
    for change in cases.keys.sorted() {
      print("measured: \(change / 48) ms inserted: \(found[change] ?? 0) of \(cases[change] ?? 0) marks found")
    }
    // Where a whole symbol is removed, two numbers can be equally likely.
    #expect(cases.allSatisfy { (found[$0.key] ?? 0) * 100 >= $0.value * ($0.key > 0 ? 99 : 75) })
  }

  private func heard(seconds: Int, line: Line) throws -> [DetectedMark] {
    let pattern = PatternAudio(channels: line.channels)
    var settings = OpusEncoder.Settings()
    settings.channels = line.channels
    settings.bitrate = line.bitrate
    settings.correctsErrors = line.correctsErrors
    settings.expectedLoss = line.loss
    settings.isForSpeech = line.isForSpeech
    let encoder = try OpusEncoder(settings)
    let decoder = try OpusDecoder(channels: line.channels)
    var generator = SeededGenerator(seed: 5)
    var reader = PatternAudioReader()
    var marks: [DetectedMark] = []
    var time: Int64 = 0
    var wasLost = false
    func hear(_ audio: AudioSamples) {
      marks += reader.read(audio, at: time)
      time += Int64(audio.count)
    }
    for packetNumber in 0..<Int64(seconds * 50) {
      let packet = try encoder.encode(pattern.audio(from: Self.start + packetNumber * 960, count: 960))
      let isLost = Int.random(in: 0..<100, using: &generator) < line.loss
      if wasLost {
        // Like a browser: from the FEC data in the next packet, if that arrived.
        hear(try isLost ? decoder.conceal(duration: 960) : decoder.recover(duration: 960, before: packet))
      }
      if !isLost { hear(try decoder.decode(packet)) }
      wasLost = isLost
    }
    return marks + reader.finish()
  }

  @Test("an interval has the same audio, however it is split")
  func pieces() {
    let pattern = PatternAudio()
    let whole = pattern.audio(from: Self.start, count: 48_000)
    var joined: [Float] = []
    for size in [1, 959, 7_040, 0, 20_000, 20_000] {
      joined += pattern.audio(from: Self.start + Int64(joined.count), count: size).samples
    }
    let areAlike = joined == whole.samples
    #expect(areAlike)
    let both = PatternAudio(channels: 2).audio(from: Self.start, count: 48_000)
    let doubled = whole.samples.flatMap { [$0, $0] }
    let channelsAreAlike = both.samples == doubled
    #expect(channelsAreAlike)
  }

  @Test("between the marks there is a hum, so that silence can be detected, and nothing is loud")
  func levels() {
    let pattern = PatternAudio()
    let hum = pattern.audio(from: Self.start, count: 20_000)
    #expect((0.005...0.02).contains(hum.level))
    let mark = pattern.audio(from: Self.start + 24_000, count: 10_560)
    #expect((0.05...0.12).contains(mark.level))
    let loudest = mark.samples.map(abs).max() ?? 1
    #expect(loudest < 0.2)
  }

  @Test("times far from the present are accepted", arguments: [Int64.min, -48_000, 0, .max])
  func oddTimes(start: Int64) {
    #expect(PatternAudio().audio(from: start, count: 960).count == 960)
    var reader = PatternAudioReader()
    _ = reader.read(PatternAudio().audio(from: 0, count: 960), at: start)
    _ = reader.read(PatternAudio().audio(from: 0, count: 960), at: 0)
    _ = reader.read(PatternAudio().audio(from: 0, count: 960), at: .min)
    _ = reader.read(PatternAudio().audio(from: 0, count: 960), at: .max)
    #expect(reader.finish().isEmpty)
  }

  @Test("a mark of any number is detected in pieces of any length")
  func numbers() {
    let pattern = PatternAudio()
    var generator = SeededGenerator(seed: 8)
    for number in stride(from: 0, to: 256, by: 15) {
      let start = Int64(number) * 48_000 - 3_000
      var reader = PatternAudioReader()
      var marks: [DetectedMark] = []
      var position: Int64 = 0
      while position < 20_000 {
        let count = Int.random(in: 1...5_000, using: &generator)
        marks += reader.read(pattern.audio(from: start + position, count: count), at: 77 + position)
        position += Int64(count)
      }
      marks += reader.finish()
      #expect(marks.map(\.second) == [UInt8(number)])
      #expect(marks.allSatisfy { abs($0.time - 3_077) <= 6 })
    }
  }

  @Test("a gap, a jump and a repeated piece do not shift the marks")
  func discontinuities() {
    let pattern = PatternAudio()
    var reader = PatternAudioReader()
    var marks: [DetectedMark] = []
    func hear(_ range: Range<Int64>) {
      marks += reader.read(pattern.audio(from: range.lowerBound, count: range.count), at: range.lowerBound)
    }
    hear(24_000..<60_000)
    hear(50_000..<70_000)
    hear(80_000..<110_000)
    hear(1_000_000..<1_030_000)
    marks += reader.finish()
    #expect(marks.map(\.second) == [1, 2, 21])
    #expect(marks.allSatisfy { abs($0.time - Int64($0.second) * 48_000) <= 6 })
  }

  @Test("noise, tones, sweeps and speech-like audio contain no marks")
  func falseMarks() {
    var generator = SeededGenerator(seed: 12)
    var reader = PatternAudioReader()
    var found = 0
    var time: Int64 = 0
    let seconds = 40
    for piece in 0..<seconds * 10 {
      let kind = piece / 10 % 4
      var phase = 0.0
      let samples = (0..<4_800).map { index -> Float in
        let noise = Float.random(in: -0.3...0.3, using: &generator)
        let position = Double(index) / 4_800
        phase += (kind == 1 ? 800 + 125 * Double(piece % 16) : 300 + 3_500 * position) / 48_000
        let turn = phase - phase.rounded(.down)
        let wave = Float(turn < 0.5 ? 4 * turn - 1 : 3 - 4 * turn)
        return switch kind {
        case 0: noise
        case 1, 2: 0.3 * wave + 0.05 * noise
        default: wave * noise
        }
      }
      found += reader.read(AudioSamples(samples: samples, channels: 1), at: time).count
      time += 4_800
    }
    found += reader.finish().count
    print("measured: audio marks found in \(seconds) s of noise, tones and sweeps: \(found)")
    #expect(found == 0)
  }
}
