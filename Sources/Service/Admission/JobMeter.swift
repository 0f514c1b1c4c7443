package import Media

/// What the process of one job used in the last minute, from its statuses. Pure.
package struct JobMeter: Sendable, Hashable {
  /// What a status says of the process.
  package struct Sample: Sendable, Hashable {
    /// CPU time since the process began, without that of verification, in milliseconds.
    package var processorTime: Int64
    package var privateMemory: Int64
    /// Bytes written since the process began.
    package var bytesWritten: Int64
    package var users: Int

    package init(processorTime: Int64, privateMemory: Int64, bytesWritten: Int64, users: Int) {
      self.processorTime = processorTime
      self.privateMemory = privateMemory
      self.bytesWritten = bytesWritten
      self.users = users
    }
  }

  private struct Window: Sendable, Hashable {
    var end: MonotonicInstant
    var demand: JobDemand
  }

  private struct Start: Sendable, Hashable {
    var time: MonotonicInstant
    var sample: Sample
  }

  /// Rates are taken over windows of this length: shorter ones would count the work of a moment.
  private static let window = Duration.seconds(5)
  private static let memory = Duration.seconds(60)
  /// More users than any room has: a process may claim anything.
  private static let maximumUsers = 1_000_000

  private var windows: [Window] = []
  private var start: Start?
  private var memoryInWindow: Int64 = 0
  private var usersSince: MonotonicInstant?
  package private(set) var users = 0

  package init() {}

  package mutating func add(_ sample: Sample, at now: MonotonicInstant) {
    users = min(max(sample.users, 0), Self.maximumUsers)
    if users == 0 { usersSince = nil } else { usersSince = usersSince ?? now }
    memoryInWindow = max(memoryInWindow, sample.privateMemory)
    guard let start, sample.processorTime >= start.sample.processorTime,
      sample.bytesWritten >= start.sample.bytesWritten
    else {
      // The first one, or that of a new process.
      self.start = Start(time: now, sample: sample)
      return
    }
    let time = now - start.time
    guard time >= Self.window else { return }
    let seconds = time.seconds
    func rate(_ one: Int64, _ other: Int64) -> Int64 {
      let (difference, overflow) = one.subtractingReportingOverflow(other)
      return overflow ? .max : Int64(clampingRounded: Double(difference) / seconds)
    }
    windows.removeAll { now - $0.end > Self.memory }
    windows.append(
      Window(
        end: now,
        demand: JobDemand(
          // Milliseconds a second are thousandths of a processor.
          processors: rate(sample.processorTime, start.sample.processorTime), memory: memoryInWindow,
          bytesPerSecond: rate(sample.bytesWritten, start.sample.bytesWritten))))
    self.start = Start(time: now, sample: sample)
    memoryInWindow = sample.privateMemory
  }

  /// The highest of the last minute; nil before a window is over.
  package var highest: JobDemand? {
    guard let first = windows.first else { return nil }
    return windows.dropFirst().reduce(first.demand) { $0.highest($1.demand) }
  }

  /// Whether it has had users for a minute without interruption.
  package func isSettled(at now: MonotonicInstant) -> Bool {
    usersSince.map { now - $0 >= Self.memory } ?? false
  }
}
