import Foundation
import Glibc

/// CPU time of the current thread, which does not depend on the machine's other work.
public enum ProcessorTime {
  /// Measures the CPU time of a closure that does not suspend.
  public static func measure(_ body: () throws -> Void) rethrows -> Duration {
    let begin = now()
    try body()
    return (now() - begin) / slowdown
  }

  /// Returns the lowest CPU time of up to three runs; it runs again only if the previous run took longer than the limit.
  ///
  /// The measured time includes what the host of a virtual machine takes, which varies in bursts, so the lowest value is
  /// the true cost.
  public static func least(within limit: Duration, _ body: () throws -> Void) rethrows -> Duration {
    var least = try measure(body)
    for _ in 0..<2 where least >= limit { least = min(least, try measure(body)) }
    return least
  }

  /// The approximate slowdown by a sanitizer, which `scripts/sanitize.sh` announces.
  private static let slowdown = ProcessInfo.processInfo.environment["CHATBOT_SANITIZER"] == nil ? 1 : 20

  private static func now() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
  }

  /// Returns how much more CPU time a closure takes for a hostile value than for a harmless one of the same size.
  public static func ratio<Value>(
    of hostile: Value, to harmless: Value, _ body: (Value) throws -> Void
  ) rethrows -> Double {
    // Below a millisecond nothing is slow.
    let base = max(try least(within: .zero) { try body(harmless) }, .milliseconds(1))
    return try least(within: base * 4) { try body(hostile) } / base
  }
}
