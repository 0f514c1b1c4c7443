internal import JobProtocol
package import Logging
internal import Media
internal import ObjectStore
package import SQLStore

/// Stores the files of jobs that run, as they are closed, and those of attempts that a later one follows.
///
/// What fails is tried again, for as long as the job runs: the disk keeps it. While the store fails, one file at a time is tried.
/// At the end of a job the ``Storer`` stores what is missing.
package actor Spool {
  /// What waits to be stored.
  enum Item: Sendable, Hashable {
    case file(AttemptFile)
    /// All files of an attempt that has ended.
    case attempt(JobID, id: String)

    var job: JobID {
      switch self {
      case .file(let file): file.job
      case .attempt(let job, _): job
      }
    }
  }

  private let storer: Storer
  private let logger: Logger
  private let maximumAtOnce: Int
  /// In the order in which they are tried.
  private var waiting: [Item] = []
  private var running: Set<Item> = []
  private var backoff = StoreBackoff()
  private var pause: Task<Void, Never>?
  private var isEnded = false

  /// The number of files that wait; what is beyond them is stored at the end of its job.
  private static let maximumWaiting = 100_000
  /// When an attempt whose folder is in use is tried again.
  private static let attemptWait = Duration.seconds(15)

  package init(_ storer: Storer, maximumAtOnce: Int = 4, logger: Logger) {
    self.storer = storer
    self.maximumAtOnce = maximumAtOnce
    self.logger = logger
  }

  /// Takes a file that the journal of an attempt says is closed. Files that are stored already change nothing.
  nonisolated package func fileClosed(_ file: AttemptFile) {
    storer.unstored.add(file.unstoredName, of: file.job, bytes: file.closed.bytes)
    Task { await add(.file(file)) }
  }

  /// Takes an attempt that has ended, and that another one follows.
  nonisolated package func attemptEnded(_ attemptID: String, of job: JobID) {
    Task { await add(.attempt(job, id: attemptID)) }
  }

  /// Forgets what waits of a job: its end stores it.
  package func remove(_ job: JobID) { waiting.removeAll { $0.job == job } }

  /// Begins nothing more.
  package func end() {
    isEnded = true
    waiting = []
    pause?.cancel()
  }

  private func add(_ item: Item) {
    guard !isEnded, waiting.count < Self.maximumWaiting, !running.contains(item) else { return }
    waiting.append(item)
    begin()
  }

  private func begin() {
    let limit = backoff.failures > 0 ? 1 : maximumAtOnce
    while !isEnded, pause == nil, running.count < limit, !waiting.isEmpty {
      let item = waiting.removeFirst()
      guard running.insert(item).inserted else { continue }
      Task { ended(item, await result(of: item)) }
    }
  }

  private enum Outcome: Sendable {
    case done
    /// It cannot be stored now, and what is wrong is only with it.
    case later
    /// The store cannot be used.
    case storeFailed(String)
  }

  private func result(of item: Item) async -> Outcome {
    do {
      switch item {
      case .file(let file): try await storer.storeClosedFile(file)
      case .attempt(let job, let id): try await storer.storeAttempt(job, id: id)
      }
      return .done
    } catch let error as ObjectStoreError {
      switch error.kind {
      case .missing, .notAFile, .busy, .exists, .keyTooLong: return .later
      case .full, .timeout, .refused, .storage: return .storeFailed(error.description)
      }
    } catch let error as StoringError {
      logger.debug("\(error.description)", metadata: ["job": "\(item.job)"])
      return .later
    } catch {
      return .storeFailed("\(error)".printable(utf8Bytes: 500))
    }
  }

  private func ended(_ item: Item, _ outcome: Outcome) {
    running.remove(item)
    switch outcome {
    case .done:
      if backoff.failures > 0 { logger.notice("Files are stored again") }
      backoff.succeeded()
    // The end of the job tries a file once more, and says what is missing. A process, or a repair, that holds a folder ends.
    case .later:
      if case .attempt = item, !isEnded {
        Task {
          try? await ServiceTimer.sleep(for: Self.attemptWait)
          add(item)
        }
      }
    case .storeFailed(let sentence):
      if backoff.failures == 0 { logger.error("Files are not stored for now: \(sentence)") }
      if !isEnded { waiting.append(item) }
      wait(backoff.failed())
    }
    begin()
  }

  private func wait(_ time: Duration) {
    guard pause == nil, !isEnded else { return }
    pause = Task {
      try? await ServiceTimer.sleep(for: time)
      pause = nil
      begin()
    }
  }
}
