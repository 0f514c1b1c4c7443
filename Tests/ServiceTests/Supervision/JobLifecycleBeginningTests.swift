import JobProtocol
import Media
import SQLStore
import Service
import Testing

@Suite("attempts that a service had no time to start")
struct JobLifecycleBeginningTests {
  private func alive(failures: Int) -> JobLifecycle {
    var record = JobLifecycle.Record(.starting)
    record.attempt = 3
    record.attemptStartedAt = SimulatedJob.origin
    record.failures = failures
    return JobLifecycle.begin(record, at: SimulatedJob.origin + .seconds(1)).job
  }

  @Test("they are followed by another one, and do not count as attempts that ended too early")
  func notCounted() {
    var job = alive(failures: 4)
    let actions = job.receive(.processNeverBegan, at: SimulatedJob.origin + .seconds(2))
    #expect(
      actions == [
        .noteAttemptEnded(how: "was not started before its service ended", failures: 4, next: .seconds(8))
      ])
    #expect(job.failures == 4 && job.state == .starting)
    // A process that has begun and ends as early counts.
    job = alive(failures: 4)
    _ = job.receive(.processDied(how: "ended"), at: SimulatedJob.origin + .seconds(2))
    #expect(job.failures == 5 && job.end?.reason == .crashing)
  }

  @Test("a job that was asked to stop meanwhile ends")
  func stopped() {
    var job = alive(failures: 0)
    _ = job.receive(.stop(command: 1), at: SimulatedJob.origin + .seconds(2))
    _ = job.receive(.processNeverBegan, at: SimulatedJob.origin + .seconds(3))
    #expect(job.state == .storing && job.end?.reason == .stopped)
  }
}
