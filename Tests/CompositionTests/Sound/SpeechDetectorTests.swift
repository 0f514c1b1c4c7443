import Composition
import Foundation
import Testing

@Suite("who speaks")
struct SpeechDetectorTests {
  /// When a user is how loud: from and to in seconds, and the level in dBFS.
  private typealias Part = (range: Range<Double>, level: Double)

  private func detect(_ users: [[Part]], seconds: Double) -> SpeechDetector {
    var detector = SpeechDetector(users: users.count)
    for window in 0..<Int((seconds * 50).rounded()) {
      let time = (Double(window) + 0.5) / 50
      detector.add(
        users.map { parts in
          parts.first { $0.range.contains(time) }.map { Float(pow(10, $0.level / 10)) } ?? 0
        })
    }
    return detector
  }

  private func units(_ seconds: Double) -> Int64 { Int64((seconds * 720_000).rounded()) }

  @Test("A user speaks from the first to the last loud 20 ms, and pauses of less than 500 ms do not count")
  func spans() {
    let detector = detect([[(1..<2, -20), (2.4..<3, -20), (4..<5, -30)]], seconds: 7)
    #expect(
      detector.spans == [
        SpeechSpan(user: 0, start: units(1), end: units(3)), SpeechSpan(user: 0, start: units(4), end: units(5)),
      ])
  }

  @Test("What is short or below -45 dBFS is no speech") func noise() {
    let detector = detect([[(1..<1.1, -10), (2..<5, -46)]], seconds: 6)
    #expect(detector.spans.isEmpty)
    #expect(detect([[(1..<1.1, -10), (2..<5, -44)]], seconds: 6).spans.map(\.start) == [units(2)])
    // A level of -46 dBFS makes nobody the speaker.
    #expect(detector.changes.isEmpty)
  }

  @Test("Two users speak at the same time, and the spans are sorted by start") func together() {
    let spans = detect([[(2..<4, -20)], [(1..<3, -20), (6..<7, -20)]], seconds: 7).spans
    #expect(spans.map(\.user) == [1, 0, 1])
    // Speech that has not ended lasts until now.
    #expect(spans.last?.end == units(7))
  }

  @Test("The speaker is shown from 100 ms before the first word, and stays in silence") func first() {
    let detector = detect([[], [(3..<5, -20)]], seconds: 12)
    #expect(detector.changes == [SpeakerChange(time: units(2.9), user: 1)])
  }

  @Test("Who answers at once is shown before their first word") func answer() {
    let detector = detect([[(1..<5, -20)], [(5..<9, -20)]], seconds: 10)
    #expect(
      detector.changes == [SpeakerChange(time: units(0.9), user: 0), SpeakerChange(time: units(4.9), user: 1)])
  }

  @Test("Less than 600 ms, or less than 6 dB, change nothing") func insufficient() {
    #expect(detect([[(1..<5, -20)], [(6..<6.3, -20)]], seconds: 10).changes.map(\.user) == [0])
    #expect(detect([[(1..<10, -25)], [(4..<10, -20)]], seconds: 10).changes.map(\.user) == [0])
    #expect(detect([[(1..<10, -27)], [(4..<10, -20)]], seconds: 10).changes.map(\.user) == [0, 1])
  }

  @Test("A speaker holds 2 s") func hold() {
    let detector = detect([[(1..<2, -20), (5..<8, -20)], [(2..<5, -20)], []], seconds: 9)
    let times = detector.changes.map(\.time)
    #expect(detector.changes.map(\.user) == [0, 1, 0])
    #expect(times == [units(0.9), units(2.9), units(4.9)])
    for (one, next) in zip(times, times.dropFirst()) { #expect(next - one >= units(2)) }
  }

  @Test("Nothing before the settled time changes when more is added") func settled() {
    let users: [[Part]] = [
      [(0.5..<2, -20), (5..<6.2, -30), (9..<9.3, -20)], [(1.9..<5.2, -22), (8..<8.1, -10), (11..<14, -20)],
    ]
    let all = detect(users, seconds: 16)
    for seconds in stride(from: 0.0, through: 16, by: 0.1) {
      let part = detect(users, seconds: seconds)
      let settled = part.settled
      #expect(settled >= units(seconds - 2))
      #expect(part.changes.filter { $0.time < settled } == all.changes.filter { $0.time < settled })
      func known(_ spans: [SpeechSpan]) -> [SpeechSpan] {
        spans.filter { $0.start < settled }.map { span in
          SpeechSpan(user: span.user, start: span.start, end: min(span.end, settled))
        }
      }
      #expect(known(part.spans) == known(all.spans), "at \(seconds)")
    }
  }

  @Test("Levels that are missing, or no numbers, are silence") func damaged() {
    var detector = SpeechDetector(users: 3)
    for _ in 0..<100 { detector.add([.nan, -.infinity]) }
    detector.add([])
    #expect(detector.spans.isEmpty && detector.changes.isEmpty)
    #expect(SpeechDetector(users: -1).spans.isEmpty)
  }
}
