internal import JSON
internal import JobProtocol
internal import Media
internal import SQLStore

extension JobLifecycle.Record {
  /// - Parameters:
  ///   - attempts: all attempts of the job, in their order.
  ///   - clock: what the clock of the database read at a moment.
  init(_ record: JobRecord, attempts: [AttemptRecord], request: JobRequest, clock: WallClock) {
    self.init(record.state)
    func instant(_ time: Int64) -> MonotonicInstant {
      clock.moment + .milliseconds(time) - .seconds(clock.secondsSince1970)
    }
    startAt = record.startAt.map(instant)
    queueUntil = record.queueUntil.map(instant)
    queueFor = .milliseconds(max(request.queueFor, 0))
    duration = request.end.duration.map { .milliseconds(max($0, 0)) }
    startedAt = attempts.first.map { instant($0.startedAt) }
    attempt = Int(clamping: record.attempt)
    let last = attempts.last
    attemptStartedAt = last.flatMap { $0.endedAt == nil ? instant($0.startedAt) : nil }
    lastEnd = attempts.last { $0.how != nil }?.how
    failures = Int(clamping: record.failures)
    nextAttemptAt = record.nextAttemptAt.map(instant)
    // What cannot be read pauses everybody.
    let limits = JSONLimits(bytes: 8 << 20, values: 10_000)
    pause =
      (try? JSONReader.decode(PauseState.self, from: record.paused, within: limits)) ?? PauseState(all: true)
    isStalled = record.stalled
    stop = record.stopReason.flatMap { JobEndReason(rawValue: $0) }.map {
      JobLifecycle.End($0, $0 == .drained ? "The service was stopped." : "The job was stopped.")
    }
    end = record.reason.flatMap { JobEndReason(rawValue: $0) }.map { JobLifecycle.End($0, record.sentence ?? "") }
  }
}
