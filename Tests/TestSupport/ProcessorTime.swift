import Foundation
import Glibc

/// Time that a processor worked for this thread: what a machine's other work leaves as it is.
public enum ProcessorTime {
  /// How long a processor works for something that does not suspend.
  public static func measure(_ body: () throws -> Void) rethrows -> Duration {
    let begin = now()
    try body()
    return (now() - begin) / slowdown
  }

  /// The least that something takes in up to three runs; there is a second one only if the first takes longer than the limit.
  ///
  /// The time counts what the host of a virtual machine takes from it, which comes in bursts; what something costs is its least.
  public static func least(within limit: Duration, _ body: () throws -> Void) rethrows -> Duration {
    var least = try measure(body)
    for _ in 0..<2 where least >= limit { least = min(least, try measure(body)) }
    return least
  }

  /// How many times as long a program takes under a sanitizer, roughly: `scripts/sanitize.sh` names it.
  private static let slowdown = ProcessInfo.processInfo.environment["CHATBOT_SANITIZER"] == nil ? 1 : 20

  private static func now() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
  }
}
