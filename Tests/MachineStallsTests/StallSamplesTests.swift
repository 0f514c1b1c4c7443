import MachineStalls
import Testing

@Suite("Stall samples") struct StallSamplesTests {
  private static let none = KernelCounters(schedstat: "", stat: "")

  private static func figures(latenesses: [UInt64]) -> StallFigures {
    var samples = StallSamples(begun: 0, counters: none)
    for lateness in latenesses { samples.add(lateness: lateness) }
    return samples.figures(now: 2_000_000_000, counters: none)
  }

  @Test("the figures have the lateness that one wake-up in a hundred exceeds, and the longest")
  func percentile() {
    let figures = Self.figures(latenesses: (1...1000).map { $0 * 100_000 })
    #expect(abs(figures.latenessP99 - 0.099) < 0.0002)
    #expect(figures.longestLateness == 0.1)
    #expect(figures.elapsed == 2)
  }

  @Test("the figures are zero without samples, and a lateness of any length is accepted")
  func extremes() {
    #expect(Self.figures(latenesses: []).longestLateness == 0)
    #expect(Self.figures(latenesses: []).latenessP99 == 0)
    let hung = Self.figures(latenesses: [.max])
    #expect(hung.longestLateness > 1e9)
    #expect(hung.latenessP99 > 1)
  }

  @Test("one long stall among few samples is the longest and does not hide in the percentile")
  func oneStall() {
    let figures = Self.figures(latenesses: [UInt64](repeating: 50_000, count: 2000) + [250_000_000])
    #expect(figures.latenessP99 <= 0.0001)
    #expect(figures.longestLateness == 0.25)
    #expect(figures.isStalled)
  }
}

@Suite("Kernel counters") struct KernelCountersTests {
  @Test("the figures have the share of time that bursts waited for a processor, and the share that the host took")
  func change() {
    let before = KernelCounters(stat: "cpu  100 0 50 800 10 0 0 40 0 0\ncpu0 1 2 3\n")
    let after = KernelCounters(stat: "cpu  150 0 80 1600 10 0 0 60 0 0\n")
    var samples = StallSamples(begun: 0, counters: before)
    samples.addBurst(
      from: KernelCounters(schedstat: "1000 500 7\n"), to: KernelCounters(schedstat: "2000 1500 9\n"))
    samples.addBurst(
      from: KernelCounters(schedstat: "3000 2500 7\n"), to: KernelCounters(schedstat: "5000 2500 9\n"))
    let figures = samples.figures(now: 1, counters: after)
    #expect(figures.runQueueWait == 0.25)
    #expect(figures.longestRunQueueWait == 0.000_001)
    #expect(abs(figures.steal - 20.0 / 900) < 1e-9)
  }

  @Test(
    "counters are nil if the kernel's text is missing or invalid",
    arguments: ["", "0 0 0\n", "garbage", "-1 5", "99999999999999999999999 1", "1"])
  func missing(_ text: String) {
    let counters = KernelCounters(schedstat: text, stat: text)
    #expect(counters.running == nil)
    var samples = StallSamples(begun: 0, counters: counters)
    samples.addBurst(from: counters, to: counters)
    let figures = samples.figures(now: 1, counters: counters)
    #expect(figures.runQueueWait == nil)
    #expect(figures.steal == 0)
  }
}
