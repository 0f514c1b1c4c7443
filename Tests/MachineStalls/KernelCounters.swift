/// The kernel's counters of running and waiting, parsed from `/proc`.
public struct KernelCounters: Sendable, Hashable {
  /// The nanoseconds that the thread ran, and that it waited for a processor; nil if the kernel does not count them.
  public var running: UInt64?
  public var waiting: UInt64?
  /// The ticks of all processors, and how many of them the host took (steal).
  public var allTicks: UInt64 = 0
  public var stolenTicks: UInt64 = 0

  /// - Parameters:
  ///   - schedstat: The text of `/proc/self/schedstat`: nanoseconds running, nanoseconds waiting, time slices.
  ///   - stat: The text of `/proc/stat`, whose first line has the totals of all processors: user, nice, system, idle,
  ///     iowait, irq, softirq, steal, guest and guest_nice; the last two are parts of the first two.
  public init(schedstat: String = "", stat: String = "") {
    let own = Self.numbers(in: schedstat)
    if own.count >= 2, own[0] > 0 { (running, waiting) = (own[0], own[1]) }
    let first = stat.prefix { $0 != "\n" }
    guard first.hasPrefix("cpu ") else { return }
    let ticks = Self.numbers(in: first.dropFirst(4)).prefix(8)
    allTicks = ticks.reduce(0, &+)
    if ticks.count == 8 { stolenTicks = ticks[7] }
  }

  private static func numbers(in text: some StringProtocol) -> [UInt64] {
    text.split(whereSeparator: \.isWhitespace).compactMap { UInt64($0) }
  }
}
