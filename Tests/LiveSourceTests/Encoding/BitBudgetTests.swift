import LiveSource
import TestSupport
import Testing

@Suite("The bit budget")
struct BitBudgetTests {
  private let origin = ContinuousClock.now

  private func at(_ milliseconds: Int) -> ContinuousClock.Instant { origin + .milliseconds(milliseconds) }

  @Test("frames sent within the budget exceed the bitrate in no second by more than a tenth and one frame")
  func everySecond() {
    var generator = SeededGenerator(seed: 1)
    var budget = BitBudget(bitrate: 400_000)
    var sent: [(time: Int, bits: Int)] = []
    for time in stride(from: 0, to: 60_000, by: 33) where budget.allows(now: at(time)) {
      let bits = Int.random(in: 0...30_000, using: &generator)
      budget.spend(bits: bits, now: at(time))
      sent.append((time, bits))
    }
    for time in stride(from: 0, to: 59_000, by: 11) {
      let second = sent.filter { (time..<time + 1_000).contains($0.time) }.map(\.bits).reduce(0, +)
      #expect(second <= 440_000 + 30_000)
    }
    let all = sent.map(\.bits).reduce(0, +)
    #expect(all > 60 * 360_000)
  }

  @Test("a long pause is not followed by a burst")
  func pause() {
    var budget = BitBudget(bitrate: 100_000)
    budget.spend(bits: 0, now: at(0))
    var bits = 0
    while budget.allows(now: at(60_000)) {
      budget.spend(bits: 1_000, now: at(60_000))
      bits += 1_000
    }
    #expect(bits <= 11_000)
  }

  @Test("frames continue after a keyframe of 0.12 s at the bitrate, but not after another frame of that size")
  func keyframe() {
    var budget = BitBudget(bitrate: 600_000)
    budget.spend(bits: 0, now: at(0))
    budget.spend(bits: 72_000, isKeyframe: true, now: at(10))
    #expect(budget.allows(now: at(43)))
    budget.spend(bits: 72_000, now: at(43))
    #expect(!budget.allows(now: at(76)))
  }

  @Test("when the bitrate falls, frames pause for at most 0.3 s because of what was sent before")
  func fall() {
    var budget = BitBudget(bitrate: 5_000_000)
    budget.spend(bits: 400_000, now: at(0))
    budget.adapt(toBitrate: 100_000, now: at(0))
    #expect(!budget.allows(now: at(290)))
    #expect(budget.allows(now: at(310)))
  }

  @Test("a clock that stops or goes back adds no credit")
  func oddClock() {
    var budget = BitBudget(bitrate: 100_000)
    budget.spend(bits: 50_000, now: at(1_000))
    #expect(!budget.allows(now: at(1_000)))
    #expect(!budget.allows(now: at(0)))
    #expect(!budget.allows(now: at(1_490)))
    #expect(budget.allows(now: at(1_510)))
  }
}
