/// When a message is tried again.
package enum RetrySchedule {
  private static let first: [Int64] = [1_000, 5_000, 30_000, 120_000, 600_000]
  private static let further: Int64 = 1_800_000

  /// Returns how long to wait after a try that failed, in milliseconds: 1, 5, 30 s, 2, 10 min, then 30 min each time.
  ///
  /// - Parameter tries: how many have failed, from 1.
  package static func delay(afterTries tries: Int64) -> Int64 {
    let index = Int(clamping: max(1, tries)) - 1
    return first.indices.contains(index) ? first[index] : further
  }
}
