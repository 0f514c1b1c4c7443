import NIOPosix

/// The threads on which the task of a real-time scenario and its child tasks run.
///
/// Tests wait for external programs, and such a wait blocks a thread. On the threads that all tasks of a process share, as
/// many as the machine has processors, it would also delay the scenario that runs at the same time, which no stall meter
/// would see.
final class ScenarioThreads: TaskExecutor {
  static let shared = ScenarioThreads()

  private let pool = NIOThreadPool(numberOfThreads: 16)

  private init() { pool.start() }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    pool.submit { _ in job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
