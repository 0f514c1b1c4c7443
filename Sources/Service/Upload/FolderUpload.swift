internal import FoundationEssentials
internal import Glibc
package import Logging
internal import Media
package import ObjectStore
internal import S3
internal import Synchronization

/// Puts the files of a folder that a recorder writes into an object store, while it records and after, and describes them by
/// `recording.json` at the end.
///
/// It may end at any point; the next one for the same folder and store goes on. What is in the folder stays there.
package final class FolderUpload: Sendable {
  package struct Settings: Sendable {
    package var folder: String
    /// `file:///…` or `s3://…`.
    package var url: String
    package var s3 = ServiceConfiguration.S3Options()
    package var template = ObjectPathTemplate.standard
    /// Whether a recorder writes into the folder until ``ended`` says so. Otherwise, as long as a recorder has locked it.
    package var waitsForEnd = false
    /// How long after the end of the recorder a store that cannot be used is tried.
    package var patience = Duration.seconds(3_600)
    /// The words with which `chatbot` is started to repair; nil: what was not finished is stored as it is.
    package var program: [String]?
    package var version: String

    package init(folder: String, url: String, version: String) {
      self.folder = folder
      self.url = url
      self.version = version
    }
  }

  /// Why not everything is in the store.
  package struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Kind: Sendable, Hashable {
      /// The store cannot be one.
      case usage
      /// The folder cannot be read.
      case unreadable
      /// The store refuses it until somebody changes something.
      case refused
      /// The store could not be used for too long. The upload can be repeated.
      case unreachable
      /// Files were not stored.
      case incomplete
    }

    package let kind: Kind
    /// A sentence.
    package let description: String

    package init(_ kind: Kind, _ description: String) {
      self.kind = kind
      self.description = description
    }
  }

  /// What is in the store at the end.
  package struct Result: Sendable, Hashable {
    /// The URL of the description; empty if there was nothing to store.
    package var document: String
    package var files: Int
    package var bytes: Int64
    /// Whether everything that was recorded is there.
    package var isComplete: Bool
  }

  /// The project of recordings of no service.
  static let project = "default"

  let settings: Settings
  let logger: Logger
  let isEnded = Mutex(false)
  /// When something was stored last, or the recorder ended.
  let lastProgress = Mutex(MonotonicInstant.now)

  package init(_ settings: Settings, logger: Logger) {
    self.settings = settings
    self.logger = logger
  }

  /// The recorder has ended.
  package func ended() {
    isEnded.withLock { $0 = true }
    noteProgress()
  }

  func noteProgress() { lastProgress.withLock { $0 = .now } }

  /// A large file takes long, and each of its parts is progress.
  private func noteProgress(of observation: S3Observation) {
    if case .request(operation: "UploadPart", status: 200, duration: _) = observation { noteProgress() }
  }

  /// How often the folder is looked at.
  private static let interval = Duration.milliseconds(1_000)
  /// How often a store that refuses, or a disk that is full, is tried while it is recorded.
  private static let failureInterval = Duration.seconds(10)
  /// How long a store may take to answer at the start of a recording.
  private static let probeLimit = Duration.seconds(8)

  /// Uploads until the recorder has ended and everything is stored.
  ///
  /// - Parameters:
  ///   - environment: the variables with credentials.
  ///   - onReady: called when the store was tried, with a sentence if it could not be reached; it is then tried again.
  /// - Throws: a ``Failure``.
  package func run(
    environment: [String: String], onReady: @escaping @Sendable (String?) -> Void = { _ in }
  ) async throws -> Result {
    let media = RecordedFolder(media: settings.folder)
    if settings.waitsForEnd {
      // The recorder begins at the same time.
      try? FileManager.default.createDirectory(
        atPath: settings.folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
    guard FolderListing.isFolder(settings.folder) else {
      throw Failure(.unreadable, "There is no folder \(settings.folder.printable(utf8Bytes: 500)).")
    }
    let file = try FolderUploadFile(folder: settings.folder, store: settings.url, path: settings.template)
    let opened: OpenedStore
    do {
      opened = try await OpenedStore.open(
        url: settings.url, settings.s3, environment: environment, ledger: file, logger: logger
      ) { [self] in noteProgress(of: $0) }
    } catch {
      throw Failure(.usage, "The store cannot be used: \(error)")
    }
    let result: Swift.Result<Result, any Error>
    do {
      try await tryStore(opened, onReady)
      result = .success(try await withLock { try await self.upload(media, file, to: opened.objects) })
    } catch {
      result = .failure(Self.failure(error))
    }
    await opened.close()
    return try result.get()
  }

  private func tryStore(_ opened: OpenedStore, _ onReady: @escaping @Sendable (String?) -> Void) async throws {
    do {
      try await Deadline.run(within: Self.probeLimit) { try await opened.objects.probe() }
      onReady(nil)
    } catch let error as ObjectStoreError where error.kind == .refused {
      throw error
    } catch {
      if let problem = opened.objects.problem { throw ObjectStoreError(.refused, problem) }
      onReady("The store cannot be reached, and is tried again: \("\(error)".printable(utf8Bytes: 500))")
    }
  }

  /// Runs something while no other process uploads the folder.
  private func withLock<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
    let path = "\(settings.folder)/.upload.lock"
    let lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard lock >= 0 else {
      let reason = String(cString: strerror(errno))
      throw Failure(.unreadable, "\(path.printable(utf8Bytes: 500)) cannot be created: \(reason).")
    }
    defer { close(lock) }
    var isWaiting = false
    while flock(lock, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR else { break }
      if !isWaiting { logger.notice("Another upload of the folder goes on; this one follows") }
      isWaiting = true
      try await ServiceTimer.sleep(for: Self.interval)
    }
    return try await body()
  }

  private func upload(
    _ media: RecordedFolder, _ file: FolderUploadFile, to objects: any ObjectStore
  ) async throws -> Result {
    let files = FolderFiles(media, file, to: objects, settings: settings, logger: logger) { [self] in noteProgress() }
    var failure: ObjectStoreError?
    while !isOver(media) {
      do {
        try await watched(objects) { try await files.storeClosed() }
        failure = nil
      } catch let error as ObjectStoreError {
        // The recording goes on. Rights may be given back until its end, and a disk that is full has room again.
        if failure != error { logger.error("\(error.description)") }
        failure = error
        try await sleepWhileRecorded(for: Self.failureInterval, media)
      }
      try await ServiceTimer.sleep(for: Self.interval)
    }
    noteProgress()
    return try await watched(objects) { try await files.finish() }
  }

  private func sleepWhileRecorded(for time: Duration, _ media: RecordedFolder) async throws {
    let end = MonotonicInstant.now + time
    while MonotonicInstant.now < end, !isOver(media) { try await ServiceTimer.sleep(for: Self.interval) }
  }

  /// Whether no recorder writes into the folder any more.
  private func isOver(_ media: RecordedFolder) -> Bool {
    if settings.waitsForEnd { return isEnded.withLock(\.self) }
    return !FolderLock.isHeld(settings.folder) && (try? media.isBeingWritten()) != true
  }

  /// Runs something that waits for the store, and ends it when the recorder is over and the store was away for too long, or refuses
  /// what is asked.
  private func watched<Value: Sendable>(
    _ objects: any ObjectStore, _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try await withThrowingTaskGroup(of: Value?.self) { group in
      group.addTask { try await body() }
      group.addTask { [self] in
        while true {
          try await ServiceTimer.sleep(for: Self.interval)
          let isAfter = !settings.waitsForEnd || isEnded.withLock(\.self)
          if isAfter, .now - lastProgress.withLock(\.self) > settings.patience {
            let sentence =
              objects.problem ?? "The store could not be used for \(settings.patience.components.seconds) s."
            throw Failure(.unreachable, "\(sentence) Run the upload again.")
          }
        }
      }
      defer { group.cancelAll() }
      while let value = try await group.next() {
        if let value { return value }
      }
      throw CancellationError()
    }
  }

  private static func failure(_ error: any Error) -> any Error {
    guard let error = error as? ObjectStoreError else { return error }
    switch error.kind {
    case .refused: return Failure(.refused, error.description)
    case .timeout, .full: return Failure(.unreachable, "\(error.description) Run the upload again.")
    case .exists, .missing, .notAFile, .busy, .keyTooLong, .storage: return Failure(.incomplete, error.description)
    }
  }
}

/// A limit of time for something that can be cancelled.
enum Deadline {
  static func run(within limit: Duration, _ body: @escaping @Sendable () async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await body() }
      group.addTask {
        try await ServiceTimer.sleep(for: limit)
        throw ObjectStoreError(.timeout, "The store gave no answer within \(limit.components.seconds) s.")
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }
}
