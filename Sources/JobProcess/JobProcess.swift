internal import Call
internal import Console
internal import FoundationEssentials
internal import Glibc
internal import JobProtocol
internal import Logging
internal import Media
internal import Recorder
internal import Synchronization

/// One job in this process: its folder, its journal and its control socket around the work that a program gives it.
///
/// ```
///   lock ─ journal ─ secrets ─ specification ─ control socket ─ started ─ work ─ files closed ─ ended
/// ```
package struct JobProcess: Sendable {
  /// The folder of the job.
  package var folder: String
  /// The version of the program.
  package var version: String
  /// The descriptor of the secrets.
  package var input: Int32
  /// Where sentences for the person who started the process go, beside the log.
  package var errors: Int32

  /// The niceness of the threads that verify recordings.
  private static let niceness: Int32 = 10

  package init(folder: String, version: String, input: Int32 = 0, errors: Int32 = 2) {
    self.folder = folder
    self.version = version
    self.input = input
    self.errors = errors
  }

  /// Makes this process one that outlives its parent: a session of its own, no signal of a terminal that closes, no file of its memory,
  /// in which secrets would be, and files that only its user can read.
  package static func detach() {
    // It fails for the leader of a process group, which a shell with job control makes.
    if setsid() < 0, getsid(0) != getpid() { signal(SIGHUP, SIG_IGN) }
    for number in [SIGPIPE, SIGUSR1, SIGUSR2] { signal(number, SIG_IGN) }
    umask(0o077)
    var limit = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    VerificationPool.setNiceness(niceness)
  }

  /// Runs the job.
  ///
  /// - Parameter work: makes the call that the job's arguments describe and runs it to its end.
  /// - Returns: the exit code of the process.
  package func run(_ work: @escaping @Sendable (RunningJob) async throws -> JobResult) async -> Int32 {
    do {
      return try await runLocked(work)
    } catch {
      Console(isQuiet: false, errors: errors).report(error.sentence)
      return error.exitCode
    }
  }

  private func runLocked(
    _ work: @escaping @Sendable (RunningJob) async throws -> JobResult
  ) async throws(JobFailure) -> Int32 {
    let directory = try JobDirectory(folder)
    let journal = try JobJournal(try directory.openJournal())
    let result: JobResult
    do throws(JobFailure) {
      result = try await run(work, in: directory, journal)
    } catch {
      Console(isQuiet: false, errors: errors).report(error.sentence)
      result = JobResult(error)
    }
    journal.drain()
    let dropped = journal.dropped
    journal.append(
      .ended(
        .init(
          reason: result.reason, exitCode: result.exitCode, sentence: result.sentence,
          problemsDropped: dropped > 0 ? dropped : nil)))
    journal.close()
    return result.exitCode
  }

  private func run(
    _ work: @escaping @Sendable (RunningJob) async throws -> JobResult, in directory: JobDirectory,
    _ journal: JobJournal
  ) async throws(JobFailure) -> JobResult {
    let secrets = try JobInput.secrets(from: input)
    let specification = try JobInput.specification(in: directory)
    let arguments: [String]
    do { arguments = try specification.arguments(in: folder) } catch { throw .usage("\(error)") }
    try directory.createMedia()
    let media = directory.path(of: JobFolder.media)
    let former = ClosedFiles.names(in: media)
    let console = try openConsole(in: directory)
    defer { console.close() }
    var log = console.logger("job", level: .info)
    log[metadataKey: "job"] = "\(specification.job)"
    log[metadataKey: "attempt"] = "\(specification.attempt)"
    let files = ClosedFiles(folder: media, journal: journal)
    let job = RunningJob(
      specification, secrets: secrets, arguments: Array(arguments.dropFirst()), version: version, console: console,
      log: log, journal: journal, files: files)
    directory.removeControl()
    let control = try await ControlServer(path: directory.controlPath, handlers: job.handlers)
    journal.append(
      .started(
        .init(
          version: version, job: specification.job, attempt: specification.attempt,
          attemptID: specification.attemptID, kind: specification.kind, process: getpid(),
          paused: job.state.withLock(\.paused))))
    let serving = Task { await control.run() }
    let watching = Task { await job.watch() }
    let result = await job.carryOut(work)
    watching.cancel()
    await Self.waiting {
      files.addRest(except: former)
      files.finish()
    }
    serving.cancel()
    await serving.value
    directory.removeControl()
    return result
  }

  /// The log of the job: at most so many bytes, of which the oldest half is dropped.
  private func openConsole(in directory: JobDirectory) throws(JobFailure) -> Console {
    do throws(OutputError) {
      let file = try LogFile(
        path: directory.path(of: JobFolder.log), size: Int64(JobFolder.maximumLogBytes), format: .json,
        whenFull: .dropOldestHalf)
      return Console(isQuiet: false, format: .json, logFile: file, errors: errors)
    } catch {
      throw .folder("\(directory.path(of: JobFolder.log)) cannot be written: \(error).")
    }
  }

  /// Runs work that blocks on a thread of its own.
  static func waiting(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      let isStarted = DedicatedThread.start("job files", niceness: 0) {
        body()
        continuation.resume()
      }
      if !isStarted { continuation.resume() }
    }
  }
}

extension RunningJob {
  /// Runs the work, and cancels it when the job is to end before it has joined.
  func carryOut(_ work: @escaping @Sendable (RunningJob) async throws -> JobResult) async -> JobResult {
    let task = Task { try await work(self) }
    let isToEnd = state.withLock { state in
      state.cancel = { task.cancel() }
      return state.end != nil
    }
    if isToEnd { task.cancel() }
    let result = await task.result
    let end = state.withLock { state in
      defer { state.cancel = nil }
      state.phase = .leaving
      return state.end
    }
    switch result {
    case .success(let result): return result
    case .failure(let error):
      if let end { return end }
      if let failure = error as? JobFailure {
        console.report(failure.sentence)
        return JobResult(failure)
      }
      console.report("\(error)")
      return JobResult(.crashing, "\(error)".printable(utf8Bytes: 500))
    }
  }
}

extension JobResult {
  /// The sentence as a clause, for the log of a call.
  var clause: String {
    let text = sentence.hasSuffix(".") ? sentence.dropLast() : sentence[...]
    return text.prefix(1).lowercased() + text.dropFirst()
  }
}
