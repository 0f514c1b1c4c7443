/// The programs that run for recordings, and those that wait for their turn. Pure.
package struct ProgramQueue<Job: Sendable>: Sendable {
  /// How many programs run at once, and how many wait.
  package static var maximumRunning: Int { 4 }
  package static var maximumWaiting: Int { 1_000 }

  /// What becomes of a job.
  package enum Decision: Sendable {
    case start(id: Int)
    case wait
    /// Too many wait; the job is left out.
    case drop
  }

  private(set) var running: [Int: Job] = [:]
  private(set) var waiting: [Job] = []
  private var nextID = 0

  package init() {}

  package var runningCount: Int { running.count }
  package var waitingCount: Int { waiting.count }
  package var isIdle: Bool { running.isEmpty }

  /// Adds a job.
  package mutating func add(_ job: Job) -> Decision {
    if running.count < Self.maximumRunning { return .start(id: run(job)) }
    guard waiting.count < Self.maximumWaiting else { return .drop }
    waiting.append(job)
    return .wait
  }

  /// A program has ended.
  ///
  /// - Returns: the job that waited longest, which runs now.
  package mutating func ended(_ id: Int) -> (id: Int, job: Job)? {
    running[id] = nil
    guard running.count < Self.maximumRunning, !waiting.isEmpty else { return nil }
    let job = waiting.removeFirst()
    return (run(job), job)
  }

  /// Forgets the jobs that wait.
  ///
  /// - Returns: how many there were.
  package mutating func cancelWaiting() -> Int {
    defer { waiting = [] }
    return waiting.count
  }

  private mutating func run(_ job: Job) -> Int {
    nextID &+= 1
    running[nextID] = job
    return nextID
  }
}
