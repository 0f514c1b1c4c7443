/// What the kernel counts of waiting, read from texts of `/proc`.
public struct KernelCounters: Sendable, Hashable {
  /// Nanoseconds that the reading thread ran, and that it waited for a processor; nil where the kernel does not tell.
  public var running: UInt64?
  public var waiting: UInt64?
  /// Ticks of all processors, and those of them that the host took.
  public var allTicks: UInt64 = 0
  public var stolenTicks: UInt64 = 0

  /// - Parameters:
  ///   - schedstat: the text of `/proc/self/schedstat`: nanoseconds running, nanoseconds waiting, time slices.
  ///   - stat: the text of `/proc/stat`, whose first line sums up all processors: user, nice, system, idle, iowait, irq,
  ///     softirq, steal, guest and guest_nice, the last two being parts of the first two.
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
