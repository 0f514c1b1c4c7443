/// Collects stretches of time: each up to a bound, and all as sums.
struct StretchLog: Sendable {
  /// How many are listed.
  static let longestList = 200

  /// Shorter ones are none.
  let shortest: Double
  private var all = Stretches()

  init(shortest: Double = 0) {
    self.shortest = shortest
  }

  mutating func add(start: Double, duration: Double, reason: String? = nil) {
    guard duration > 0, duration >= shortest else { return }
    let stretch = Stretch(start: start, duration: duration, reason: reason)
    all.count += 1
    all.total += duration
    if all.list.count < Self.longestList {
      all.list.append(stretch)
    } else if duration > all.longest {
      all.list[Self.longestList - 1] = stretch
    }
    all.longest = max(all.longest, duration)
  }

  /// Everything until now, as a report has it.
  ///
  /// - Parameter duration: how long the track lasted.
  func stretches(of duration: Double) -> Stretches {
    var told = all
    told.total = tidy(all.total)
    told.longest = tidy(all.longest)
    told.ratio = duration > 0 ? tidy(min(1, all.total / duration)) : 0
    told.list = all.list.map { Stretch(start: tidy($0.start), duration: tidy($0.duration), reason: $0.reason) }
    return told
  }
}

/// Finds the stretches in which something is so.
struct StretchWatch: Sendable {
  private(set) var log: StretchLog
  private var since: Double?

  init(shortest: Double = 0) {
    log = StretchLog(shortest: shortest)
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
