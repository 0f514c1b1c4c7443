/// Collects stretches of time: each up to a bound, and all as sums.
struct IntervalLog: Sendable {
  /// How many are listed.
  static let maximumList = 200

  /// Shorter ones are none.
  let shortest: Double
  private var all = IntervalSummary()

  init(shortest: Double = 0) {
    self.shortest = shortest
  }

  mutating func add(start: Double, duration: Double, reason: String? = nil) {
    guard duration > 0, duration >= shortest else { return }
    let interval = Interval(start: start, duration: duration, reason: reason)
    all.count += 1
    all.total += duration
    if all.list.count < Self.maximumList {
      all.list.append(interval)
    } else if duration > all.longest {
      all.list[Self.maximumList - 1] = interval
    }
    all.longest = max(all.longest, duration)
  }

  /// Everything until now, as a report has it.
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

/// Finds the stretches in which something is so.
struct IntervalDetector: Sendable {
  private(set) var log: IntervalLog
  private var since: Double?

  init(shortest: Double = 0) {
    log = IntervalLog(shortest: shortest)
  }

  /// From a time on it is so, or not.
  mutating func set(_ isSo: Bool, at time: Double) {
    if isSo {
      since = since ?? time
    } else if let start = since {
      log.add(start: start, duration: time - start)
      since = nil
    }
  }
}
