package import JobProtocol
package import SQLStore

/// What the HTTP side asks of the supervisor. The supervisor never touches HTTP; the HTTP side never touches processes, and
/// writes jobs and commands to the database before it calls.
package protocol JobControl: Sendable {
  /// Takes over the processes that an earlier service left, and begins with the jobs that are due.
  func start() async throws

  /// Reserves room for a job that is to begin at once. Each reservation ends with ``submitted(_:reservation:)`` or
  /// ``release(_:)``.
  ///
  /// - Throws: what is short. A job with `queueFor` may be submitted nevertheless.
  func reserve(_ kind: JobKind) async throws(CapacityShortage) -> CapacityReservation

  /// Gives a reservation back: the job was not stored, or was stored before.
  func release(_ reservation: CapacityReservation) async

  /// A new job is in the database: with the state `starting` and its reservation, or as `queued` or `scheduled` without one.
  func submitted(_ job: JobID, reservation: CapacityReservation?) async

  /// A new command is in the database. Returns at once.
  func commandRequested(_ command: Int64, of job: JobID) async

  /// Waits until the command is done, at most this long.
  ///
  /// - Returns: whether it is done.
  func isDone(_ command: Int64, within limit: Duration) async -> Bool

  /// The last status of the job's process, not older than 15 s; nil if no process answers.
  func live(_ job: JobID) async -> JobStatus?

  /// The last statuses of all processes that answer.
  func statuses() async -> [JobID: JobStatus]

  /// What all processes have received while this service supervised them; it never goes back.
  var mediaCounts: MediaCounts { get async }

  /// The last decoded frame of a user as PNG.
  func snapshot(of user: String, in job: JobID) async throws(SnapshotProblem) -> [UInt8]

  /// What jobs use and may use.
  var capacity: CapacityReport { get async }

  /// What this service cannot do at the moment, a sentence each. Empty if it accepts jobs.
  var missing: [String] { get async }

  /// The name of this service among those with the same database.
  var nodeName: String? { get async }

  /// Whether another node would take a job.
  func hasRoomElsewhere() async -> Bool

  /// Carries out a command while the database cannot be reached, if this node has the job. It is noted in the database later.
  ///
  /// - Parameter users: the users that are paused or resumed; nil for all.
  /// - Returns: nil if this node does not have the job.
  func commandWithoutDatabase(
    _ kind: CommandRecord.Kind, of job: JobID, project: String, users: [String]?
  ) async -> LocalOutcome?

  /// Accepts no more jobs, waits for the end of those that run, for `drainTimeout` at most, then ends them, and returns when
  /// all are stored. ``detach()`` ends the wait.
  func drain() async

  /// Ends the supervision, and leaves all processes running.
  func detach() async
}

extension JobControl {
  package var nodeName: String? { nil }

  package func hasRoomElsewhere() async -> Bool { false }

  package func commandWithoutDatabase(
    _ kind: CommandRecord.Kind, of job: JobID, project: String, users: [String]?
  ) async -> LocalOutcome? { nil }
}

/// Room for one job.
package struct CapacityReservation: Sendable, Hashable {
  package let number: UInt64

  package init(number: UInt64) { self.number = number }
}

/// Why there is no snapshot.
package enum SnapshotProblem: Error, Sendable, Hashable {
  /// No process of the job answers.
  case noProcess
  /// The user is not there, is paused, or sends no video; a sentence.
  case noFrame(String)
  /// The user's last snapshot is too recent.
  case tooOften
}
