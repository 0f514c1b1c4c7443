/// Collects timer lateness and kernel counters, and computes the figures from them.
public struct StallSamples: Sendable {
  /// The interval of timer wake-ups, in nanoseconds.
  public static let period: UInt64 = 5_000_000
  /// The number of wake-ups between two bursts of computing, and the CPU time of a burst in nanoseconds: 2 % of one
  /// processor, and longer than the time slice after which a busy machine switches to another program.
  public static let (burstEvery, burst) = (100 as UInt64, 10_000_000 as UInt64)

  private let begun: UInt64
  private let countersAtBegin: KernelCounters
  /// Wake-ups by lateness: bin `n` counts those that were `n` to `n + 1` times `resolution` late; the last bin counts all
  /// later ones.
  private var bins = [UInt32](repeating: 0, count: 20_000)
  private var count = 0
  private var longest: UInt64 = 0
  /// The totals of all bursts, in nanoseconds.
  private var running: UInt64 = 0
  private var waiting: UInt64 = 0
  private var maximumWait: UInt64 = 0

  /// In nanoseconds.
  private static let resolution: UInt64 = 100_000

  /// - Parameter begun: The start of the measurement by a monotonic clock, in nanoseconds.
  public init(begun: UInt64, counters: KernelCounters) {
    self.begun = begun
    countersAtBegin = counters
  }

  /// Counts a wake-up with its lateness in nanoseconds.
  public mutating func add(lateness: UInt64) {
    let bin = min(lateness / Self.resolution, UInt64(bins.count - 1))
    bins[Int(bin)] &+= 1
    count += 1
    longest = max(longest, lateness)
  }

  /// Counts a burst of computing by the kernel's counters before and after it.
  public mutating func addBurst(from before: KernelCounters, to after: KernelCounters) {
    guard let ran = before.running, let waited = before.waiting, let runs = after.running, let waits = after.waiting,
      runs >= ran, waits >= waited
    else { return }
    running &+= runs - ran
    waiting &+= waits - waited
    maximumWait = max(maximumWait, waits - waited)
  }

  /// Returns the figures of all samples so far.
  public func figures(now: UInt64, counters: KernelCounters) -> StallFigures {
    var rest = count / 100
    var p99 = longest
    for (bin, samples) in bins.enumerated().reversed() where samples > 0 {
      rest -= Int(samples)
      if rest < 0 {
        p99 = min(longest, UInt64(bin + 1) * Self.resolution)
        break
      }
    }
    let ticks = Double(counters.allTicks &- countersAtBegin.allTicks)
    let stolen = Double(counters.stolenTicks &- countersAtBegin.stolenTicks)
    return StallFigures(
      elapsed: Double(now - begun) / 1e9, latenessP99: Double(p99) / 1e9, longestLateness: Double(longest) / 1e9,
      runQueueWait: running > 0 ? Double(waiting) / Double(running &+ waiting) : nil,
      longestRunQueueWait: Double(maximumWait) / 1e9, steal: ticks > 0 ? stolen / ticks : 0)
  }
}
