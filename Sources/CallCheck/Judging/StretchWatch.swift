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
