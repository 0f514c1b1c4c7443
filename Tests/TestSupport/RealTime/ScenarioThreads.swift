import Media

/// The threads on which the tasks of real-time scenarios run.
///
/// Tests wait for external programs, and such a wait blocks a thread. On the threads that all tasks of a process share, as
/// many as the machine has processors, it would also delay the scenario that runs at the same time, which no stall meter
/// would see.
final class ScenarioThreads: TaskExecutor {
  static let shared = ScenarioThreads()

  private static let count = 16

  private let jobs = Monitor<[UnownedJob]>([])

  private init() {
    for number in 1...Self.count { DedicatedThread.start("scenario \(number)") { self.run() } }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }

  private func run() {
    while let job = jobs.wait(for: { $0.isEmpty ? nil : $0.removeFirst() }) {
      job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}
