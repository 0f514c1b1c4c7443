/// Collects intervals: a limited list of them, and the totals of all.
struct IntervalLog: Sendable {
  /// The maximum number of listed intervals.
  static let maximumList = 200

  /// The shortest interval that counts, in seconds.
  let minimumDuration: Double
  private var all = IntervalSummary()

  init(minimumDuration: Double = 0) {
    self.minimumDuration = minimumDuration
  }

  mutating func add(start: Double, duration: Double, reason: String? = nil) {
    guard duration > 0, duration >= minimumDuration else { return }
    let interval = Interval(start: start, duration: duration, reason: reason)
    all.count += 1
    all.total += duration
    if all.list.count < Self.maximumList {
      // The cause of an interval may be decided after later intervals have ended.
      let index = all.list.lastIndex { $0.start <= start }.map { $0 + 1 } ?? 0
      all.list.insert(interval, at: index)
    } else if duration > all.longest {
      all.list[Self.maximumList - 1] = interval
    }
    all.longest = max(all.longest, duration)
  }

  /// Corrects the reason of the interval that a shorter one fills at least half of.
  mutating func correctReason(from wrong: String, to right: String, end: Double, duration: Double) {
    let index = all.list.lastIndex { interval in
      // The times are sums.
      interval.start < end - 0.001 && end < interval.start + interval.duration + 0.001
        && duration * 2 >= interval.duration
    }
    if let index, all.list[index].reason == wrong { all.list[index].reason = right }
  }

  /// Returns the summary so far, rounded for a report.
  ///
  /// - Parameter duration: how long the track lasted.
  func intervals(of duration: Double) -> IntervalSummary {
    var reported = all
    reported.total = roundedForReport(all.total)
    reported.longest = roundedForReport(all.longest)
    reported.ratio = duration > 0 ? roundedForReport(min(1, all.total / duration)) : 0
    reported.list = all.list.map {
      Interval(start: roundedForReport($0.start), duration: roundedForReport($0.duration), reason: $0.reason)
    }
    return reported
  }
}

/// Records the intervals during which a condition holds.
struct IntervalDetector: Sendable {
  private(set) var log: IntervalLog
  private var since: Double?

  init(minimumDuration: Double = 0) {
    log = IntervalLog(minimumDuration: minimumDuration)
  }

  /// Sets whether the condition holds from a time on.
  mutating func set(_ isSo: Bool, at time: Double) {
    if isSo {
      since = since ?? time
    } else if let start = since {
      log.add(start: start, duration: time - start)
      since = nil
    }
  }
}
