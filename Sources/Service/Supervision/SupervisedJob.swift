internal import JobProtocol
internal import Media
internal import SQLStore

/// A job that has not ended, with its process and what is being written for it. It belongs to its `JobSupervisor`.
final class SupervisedJob {
  let id: JobID
  let request: JobRequest
  /// Encrypted.
  let secrets: [UInt8]?
  var life: JobLifecycle
  var attempt: CurrentAttempt?
  var port: UInt16?
  /// Whether a user was ever there.
  var hadUsers = false
  /// Locks of attempts whose process may never have started, until the files are stored.
  var fences: [AttemptLock.Fence] = []
  var storing: Task<Void, Never>?
  /// The commands that the job was given.
  var commands: Set<Int64> = []
  /// The last of the writes to the database, which are done one after the other.
  private var lastWrite: Task<Void, Never>?

  init(id: JobID, request: JobRequest, secrets: [UInt8]?, life: JobLifecycle) {
    self.id = id
    self.request = request
    self.secrets = secrets
    self.life = life
  }

  /// Does something after all that was enqueued before.
  func enqueue(_ body: @escaping @Sendable () async -> Void) {
    let before = lastWrite
    lastWrite = Task {
      await before?.value
      await body()
    }
  }

  /// Ends when all that was enqueued until now is done.
  var writes: Task<Void, Never>? { lastWrite }
}

/// The attempt of a job whose process lives, or is being started.
final class CurrentAttempt {
  let number: Int
  let id: String
  let folder: AttemptDirectory
  var process: AttemptProcess?
  var tail: JournalTail
  var logTail: JobLogTail
  /// What the service's log accepts of the log of the process.
  var logRate = TokenBucket(perSecond: 20, burst: 200)
  /// The lines that were left out of the service's log since the last one.
  var skippedLogLines = 0
  var isReading = false
  var connection: ControlConnection?
  var connectionTask: Task<Void, Never>?
  var nextConnection: MonotonicInstant
  var status: (value: JobStatus, at: MonotonicInstant)?
  /// What of the sums of its status is counted; nil until the first status of a process that an earlier service started, whose sums
  /// that one has counted.
  var counted: MediaCounts?
  var lastRequest: Int64 = 0
  /// The commands that requests to the process belong to.
  var commands: [Int64: Int64] = [:]
  var snapshots: [Int64: PendingSnapshot] = [:]
  var hasReportedProblem = false

  /// - Parameter isAdopted: whether an earlier service started its process.
  init(number: Int, id: String, folder: AttemptDirectory, isAdopted: Bool = false, now: MonotonicInstant) {
    self.number = number
    self.id = id
    self.folder = folder
    tail = JournalTail(folder: folder)
    logTail = JobLogTail(folder: folder, skippingExisting: isAdopted)
    counted = isAdopted ? nil : MediaCounts()
    nextConnection = now
  }

  func nextRequest() -> Int64 {
    lastRequest += 1
    return lastRequest
  }
}
