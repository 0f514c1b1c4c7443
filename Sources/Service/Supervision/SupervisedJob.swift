internal import JobProtocol
internal import Media
internal import SQLStore

/// A job that has not ended, with its process and what is being written for it. It belongs to its `JobSupervisor`.
final class SupervisedJob {
  let id: JobID
  let request: JobRequest
  /// The job as it was when it was taken.
  let record: JobRecord
  /// Another one for each time that a job is taken.
  let serial: UInt64
  /// Encrypted.
  var secrets: [UInt8]? { record.secrets }
  /// The newest attempt that this node knows, empty before the first one. What is written names it.
  var fence: String
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
  /// The change of the pause that is being written.
  var pendingPause: PendingPause?
  var lastPauseNote: UInt64 = 0
  /// The users of whom the attempt has video, while the one before it may wait for them.
  var keyframes: [String] = []
  var hasPredecessorUntil: MonotonicInstant?
  /// The last of the writes to the database, which are done one after the other.
  private var lastWrite: Task<Void, Never>?

  struct PendingPause {
    var note: UInt64
    var state: PauseState
    /// Whether it is written to a file, since the database cannot be reached.
    var isKept = false
  }

  init(_ record: JobRecord, request: JobRequest, life: JobLifecycle, serial: UInt64) {
    id = record.id
    self.request = request
    self.record = record
    self.life = life
    self.serial = serial
    fence = record.attemptID ?? ""
  }

  /// The job as this node knows it.
  var currentRecord: JobRecord {
    var record = record
    record.state = life.state
    record.attempt = Int64(life.attempt)
    record.stalled = life.isStalled
    if let text = try? life.pause.databaseText { record.paused = text }
    return record
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
  /// Whether an earlier service has left the attempt without a line of a process, and none can come any more.
  var neverBegan = false

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
