import Foundation

/// A thread of its own for an actor that waits for the disk, so that a slow disk holds up nobody else.
///
/// The thread ends when its executor is let go of.
final class ReadingThread: SerialExecutor {
  /// What the thread and the executor share. Not the executor itself: then it would never be let go of.
  private final class Shared: @unchecked Sendable {
    /// Guards everything below; that is why this is Sendable.
    let condition = NSCondition()
    var jobs: [(job: UnownedJob, executor: UnownedSerialExecutor)] = []
    var isOver = false
  }

  private let shared = Shared()

  init(name: String) {
    let shared = shared
    let thread = Thread { Self.run(shared) }
    thread.name = name
    thread.start()
  }

  deinit {
    shared.condition.lock()
    shared.isOver = true
    shared.condition.signal()
    shared.condition.unlock()
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    shared.condition.lock()
    shared.jobs.append((job, asUnownedSerialExecutor()))
    shared.condition.signal()
    shared.condition.unlock()
  }

  private static func run(_ shared: Shared) {
    while true {
      shared.condition.lock()
      while shared.jobs.isEmpty, !shared.isOver { shared.condition.wait() }
      let jobs = shared.jobs
      shared.jobs = []
      shared.condition.unlock()
      if jobs.isEmpty { return }
      // A job keeps its actor alive, and the actor its executor, so the reference is good as long as it is used.
      for (job, executor) in jobs { job.runSynchronously(on: executor) }
    }
  }
}
