internal import Media

/// A thread of its own for an actor that waits for the disk, so that a slow disk holds up nobody else.
///
/// The thread ends when its executor is let go of.
final class ReadingThread: SerialExecutor {
  /// What the thread and the executor share. Not the executor itself: then it would never be let go of.
  private struct Shared {
    var jobs: [(job: UnownedJob, executor: UnownedSerialExecutor)] = []
    var isOver = false
  }

  private let shared = Monitor(Shared())

  init(name: String) {
    let shared = shared
    DedicatedThread.start(name) { Self.run(shared) }
  }

  deinit {
    shared.withLock { $0.isOver = true }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = asUnownedSerialExecutor()
    shared.withLock { $0.jobs.append((job, executor)) }
  }

  private static func run(_ shared: Monitor<Shared>) {
    while true {
      let jobs: [(job: UnownedJob, executor: UnownedSerialExecutor)]? = shared.wait { shared in
        if shared.jobs.isEmpty, !shared.isOver { return nil }
        defer { shared.jobs = [] }
        return shared.jobs
      }
      guard let jobs, !jobs.isEmpty else { return }
      // A job keeps its actor alive, and the actor its executor, so the reference is good as long as it is used.
      for (job, executor) in jobs { job.runSynchronously(on: executor) }
    }
  }
}
