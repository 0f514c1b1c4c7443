internal import Glibc
internal import Media
internal import ObjectStore
internal import SQLStore

extension Storer {
  /// Removes copies of files that are in the store: those that were stored longer ago than the settings say, and while `isShort` says
  /// that the disk has too little space, all, the oldest first. What is not stored stays.
  ///
  /// The manifests and the journal of a job that runs stay as well: its description is made of them.
  ///
  /// - Returns: how many files and folders were removed.
  /// - Throws: a ``StoringError``, an `ObjectStoreError` or an `SQLError`. The call can be repeated.
  @discardableResult
  package func removeLocalCopies(isShort: @Sendable () throws -> Bool) async throws -> Int {
    let age = settings.localRetention ?? 0
    var due: [LocalCopy] = []
    var young: [LocalCopy] = []
    let isShortNow = try isShort()
    let (now, jobs) = try await localJobs()
    let files = try await store.files(of: jobs.filter { !$0.isEnded }.map(\.id))
    for job in jobs {
      for copy in try await copies(of: job, files[job.id] ?? []) {
        if copy.storedAt <= now - age { due.append(copy) } else { young.append(copy) }
      }
    }
    var count = 0
    for copy in due where try await remove(copy) { count += 1 }
    guard isShortNow else {
      if let spare { try await blocking { spare.reserve() } }
      return count
    }
    for copy in young.sorted(by: { $0.storedAt < $1.storedAt }) {
      guard try isShort() else { break }
      if try await remove(copy) { count += 1 }
    }
    return count
  }

  /// Returns what says whether a disk has too little space; false if that is not known, and for a store on this machine.
  package func isShortOfSpace(in folder: String, minimum: Int64) -> @Sendable () throws -> Bool {
    guard settings.localRetention != nil else { return { false } }
    return { (try? FolderListing.freeBytes(folder)).map { $0 < minimum } ?? false }
  }

  /// Stores what jobs left on this machine that have ended without it: see ``amend(_:)``.
  package func amendLeftovers() async throws {
    var failure: (any Error)?
    for job in try await localJobs().jobs where job.isEnded && !job.deleted && hasLeftovers(job) {
      do {
        try await amend(job.id)
      } catch is StoringError {
        // A process or a repair has the folder.
      } catch {
        // The other jobs do not wait for this one.
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }

  /// Stores what jobs that have ended left on this machine, and removes what is stored.
  package func removeLeftovers() async throws {
    try await amendLeftovers()
    try await removeLocalCopies { false }
  }

  /// Whether something of a job that has ended may be here that is not stored, or in no description. Copies that only stay for their
  /// time are no reason to ask the database about each of them.
  private func hasLeftovers(_ job: LocalJob) -> Bool {
    settings.localRetention == nil
      || job.attempts.contains { isOfThisNode($0) && ($0.storedAt == nil || isLate($0, of: job)) }
  }

  /// The jobs that have a folder on this machine, by one statement, and the time of the database; 0 if there are none.
  private func localJobs() async throws -> (now: Int64, jobs: [LocalJob]) {
    let folder = "\(settings.data)/jobs"
    let names = try await BlockingWork.run("local files", within: .seconds(60)) { try FolderListing.names(folder) }
    let (now, jobs) = try await store.localJobs(names.compactMap { JobID($0) })
    return (now ?? 0, jobs)
  }

  /// A file, or the folder of an attempt, whose content is in the store.
  private enum LocalCopy: Sendable {
    case file(path: String, storedAt: Int64)
    case folder(AttemptRecord, storedAt: Int64)

    var storedAt: Int64 {
      switch self {
      case .file(_, let time), .folder(_, let time): time
      }
    }
  }

  /// - Parameter files: those that are in the store; not needed for a job that has ended.
  private func copies(of job: LocalJob, _ files: [FileRecord]) async throws -> [LocalCopy] {
    if job.isEnded {
      return job.attempts.filter { job.deleted || ($0.storedAt != nil && !isLate($0, of: job)) }
        .map { .folder($0, storedAt: job.deleted ? 0 : job.endedAt ?? 0) }
    }
    let rows = Dictionary(grouping: files, by: \.attempt)
    var copies: [LocalCopy] = []
    for attempt in job.attempts {
      let folder = folder(of: attempt)
      let media = (rows[attempt.number] ?? []).filter { MediaEnding(rawValue: $0.kind) != nil }
      guard !media.isEmpty else { continue }
      copies += try await blocking {
        let files = try folder.files()
        let present = Set(files.map { UntrustedText($0.name) })
        let candidates = media.filter { present.contains(UntrustedText($0.name)) }
        guard !candidates.isEmpty else { return [] }
        // A repair needs the files that no manifest calls complete.
        let manifests = folder.manifests(files, whileTheyAreWritten: true)
        let complete = Set(
          manifests.flatMap { $0.manifest.files.filter(\.complete).map { UntrustedText($0.name) } })
        return candidates.filter { complete.contains(UntrustedText($0.name)) }
          .map { .file(path: "\(folder.media)/\($0.name)", storedAt: $0.storedAt) }
      }
    }
    return copies
  }

  /// - Returns: whether there was something.
  private func remove(_ copy: LocalCopy) async throws -> Bool {
    switch copy {
    case .file(let path, _):
      return try await blocking {
        if unlink(path) == 0 { return true }
        guard errno == ENOENT else {
          throw StoringError("\(path.printable(utf8Bytes: 300)) cannot be removed: error \(errno).")
        }
        return false
      }
    case .folder(let attempt, _):
      let folder = folder(of: attempt)
      guard try await blocking({ folder.exists && !folder.isInUse }) else { return false }
      try await removeFolder(of: attempt)
      return true
    }
  }
}
