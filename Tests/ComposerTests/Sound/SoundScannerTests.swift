import Composer
import Composition
import Foundation
import InspectionTestSupport
import Media
import Testing

@Suite("the first pass over the sound")
struct SoundScannerTests {
  private func folder() async throws -> RecordedFolder {
    let folder = try RecordedFolder()
    func talk(_ id: String, _ parts: [Range<Double>], level: Double) throws -> SoundPeer {
      try .opus(id, seconds: 12) { time in
        [parts.contains { $0.contains(time) } ? level * sin(2 * .pi * 1_000 * time) : 0]
      }
    }
    try await folder.record([
      try talk("anna", [0.5..<4, 8..<11], level: 0.5), try talk("bert", [4.02..<7.5], level: 0.05),
      try talk("cleo", [], level: 0),
    ])
    return folder
  }

  @Test("Who speaks when is found to 20 ms, and the speaker is shown before the first word") func speech() async throws
  {
    let folder = try await folder()
    let plan = folder.soundPlan()
    let users = Dictionary(uniqueKeysWithValues: plan.users.enumerated().map { ($1.label, $0) })
    let (anna, bert) = (try #require(users["anna"]), try #require(users["bert"]))
    var times: [Int64] = []
    let found = SoundScanner(plan, measuresLoudness: true).run { times.append($0) }
    #expect(times.last == plan.duration && times == times.sorted() && times.count == 12)
    #expect(found.spans.map(\.user) == [anna, bert, anna])
    for (span, expected) in zip(found.spans, [0.5..<4, 4.02..<7.5, 8..<11]) {
      #expect(abs(Double(span.start) / 720_000 - expected.lowerBound) <= 0.041)
      #expect(abs(Double(span.end) / 720_000 - expected.upperBound) <= 0.041)
    }
    #expect(found.changes.map(\.user) == [anna, bert, anna])
    for (change, word) in zip(found.changes, [0.5, 4.02, 8]) {
      #expect((word - 0.15...word - 0.05).contains(Double(change.time) / 720_000))
    }
    #expect(found.settled == .max)
    // -6 dBFS and -26 dBFS in both channels.
    #expect(abs((found.users[anna].loudness ?? 0) + 6) < 0.5)
    #expect(abs((found.users[bert].loudness ?? 0) + 26) < 0.5)
    #expect(abs(found.users[anna].gain - 0.2) < 0.02 && abs(found.users[bert].gain - 2) < 0.15)
    #expect(abs(found.users[anna].peak - 0.5) < 0.02)
    // Who says nothing is not raised.
    let cleo = try #require(found.users.last)
    #expect(cleo.gain == 1 && cleo.loudness == nil && cleo.peak < 0.001)
  }

  @Test("Gains bring each user's speech to -20 LUFS") func level() async throws {
    let folder = try await folder()
    let plan = folder.soundPlan()
    let gains = SoundScanner(plan, measuresLoudness: true).run().users.map(\.gain)
    let mixer = SoundMixer(plan, gains: gains)
    let samples = Stereo(mixer.next(.max)).left
    // A tone of both channels of -20 LUFS has an amplitude of 0.1.
    for second in [1.0, 3, 5, 7, 9] {
      let start = Int(second * 48_000)
      #expect(abs(20 * log10(samples.level(in: start..<start + 9_600) * 2.0.squareRoot()) + 20) < 0.6, "at \(second) s")
    }
  }

  @Test("What is settled does not change when the scan goes on") func ahead() async throws {
    let folder = try await folder()
    let plan = folder.soundPlan()
    let all = SoundScanner(plan, measuresLoudness: false).run()
    let scanner = SoundScanner(plan, measuresLoudness: false)
    while !scanner.isAtEnd {
      scanner.advance()
      let found = scanner.found
      #expect(found.settled > scanner.time - 2 * 720_000)
      #expect(found.changes.filter { $0.time < found.settled } == all.changes.filter { $0.time < found.settled })
    }
    #expect(scanner.found == all)
    #expect(all.users.allSatisfy { $0.loudness == nil && $0.gain == 1 })
  }

  @Test("Without users and without sound there is nothing") func nothing() {
    let found = SoundScanner(CompositionPlan(room: "", start: 0, duration: 0), measuresLoudness: true).run()
    #expect(found == SoundScan(users: [], spans: [], changes: [], settled: .max))
    let mixer = SoundMixer(CompositionPlan(room: "", start: 0, duration: 1_500))
    #expect(mixer.next(1_000) == [Float](repeating: 0, count: 200))
    #expect(mixer.next(1_000).isEmpty)
  }
}
