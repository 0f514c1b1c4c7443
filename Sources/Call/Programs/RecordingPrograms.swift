internal import FoundationEssentials
package import Logging
package import Media
internal import NIOCore
internal import NIOPosix
internal import Processes
package import Recorder
internal import Signalling
internal import Synchronization

/// Runs programs for recordings, without a shell. A program that fails changes nothing but the log.
package final class RecordingPrograms: Sendable {
  private struct State {
    var queue = ProgramQueue<ProgramJob>()
    var isStopped = false
    /// Limits the lines about jobs that are left out.
    var drops = LogRateLimiter(perSecond: 1, burst: 1)
  }

  private let plan: RoomCall.Settings.Programs
  private let room: String
  private let log: Logger
  private let state = Mutex(State())

  /// How long a program may run.
  private static let timeLimit = Duration.seconds(3_600)

  package init(_ plan: RoomCall.Settings.Programs, room: String, log: Logger) {
    self.plan = plan
    self.room = room
    self.log = log
  }

  package func finished(_ summary: RecordingSummary) {
    guard let command = plan.onFinish, let job = ProgramJob(command, finished: summary, room: room) else { return }
    add(job)
  }

  package func finished(_ segment: RecordedSegment) {
    guard let command = plan.onSegment else { return }
    add(ProgramJob(command, finished: segment, room: room))
  }

  private func add(_ job: ProgramJob) {
    let (decision, dropped) = state.withLock { state in
      let decision = state.queue.add(job)
      guard case .drop = decision else { return (decision, nil as Int?) }
      return (decision, state.drops.consume(now: .now))
    }
    switch decision {
    case .start(let id): start(id, job)
    case .wait: log.debug("program waits", metadata: metadata(of: job))
    case .drop:
      if let others = dropped {
        log.error(
          "program left out, because \(ProgramQueue<ProgramJob>.maximumWaiting) wait already",
          metadata: metadata(of: job).merging(["others": "\(others)"]) { $1 })
      }
    }
  }

  private func start(_ id: Int, _ job: ProgramJob) {
    Task {
      await run(job)
      if let next = state.withLock({ $0.queue.ended(id) }) { start(next.id, next.job) }
    }
  }

  private func run(_ job: ProgramJob) async {
    let metadata = metadata(of: job)
    let program = Self.name(of: job)
    let child: ChildProcess
    do {
      child = try await ChildProcess.start(
        job.words, environment: job.environment(inherited: ProcessInfo.processInfo.environment), onlyErrors: true,
        killsGroup: false, on: MultiThreadedEventLoopGroup.singleton.any()
      ) { [log] line in
        let skipped: Logger.Metadata = line.suppressedCount > 0 ? ["skipped": "\(line.suppressedCount)"] : [:]
        log.notice("\(program): \(line.text)", metadata: metadata.merging(skipped) { $1 })
      }
    } catch {
      return log.error("program not started", metadata: metadata.merging(["reason": "\(error)"]) { $1 })
    }
    log.debug("program started", metadata: metadata)
    let begin = MonotonicInstant.now
    let how = await child.end(within: Self.timeLimit)
    let took = MonotonicInstant.now - begin
    if how == .code(0) {
      log.info("program ended", metadata: metadata.merging(["seconds": "\(DisplayText.tenths(took.seconds))"]) { $1 })
    } else {
      let limit = took >= Self.timeLimit ? " It had run for an hour." : ""
      let sentence = how.sentence(of: program, lastLine: child.lastDiagnostic)
      log.error("program failed", metadata: metadata.merging(["reason": "\(sentence)\(limit)"]) { $1 })
    }
  }

  private func metadata(of job: ProgramJob) -> Logger.Metadata {
    [
      "program": "\(Self.name(of: job))", "event": "\(job.value("EVENT"))",
      "manifest": "\(job.manifest)", "file": "\(job.value("FILE"))",
    ]
  }

  /// The program's file name. The arguments may be secret.
  private static func name(of job: ProgramJob) -> String {
    let program = job.words.first ?? ""
    return program.split(separator: "/").last.map(String.init) ?? program
  }

  // MARK: The end

  /// Waits until all programs have ended, but not after a moment, and says what still runs then.
  package func finish(until deadline: MonotonicInstant) async {
    if !isBusy { return }
    log.notice("waiting for programs", metadata: counts)
    while isBusy, MonotonicInstant.now < deadline, !state.withLock(\.isStopped) {
      do { try await Task.sleep(for: .milliseconds(50)) } catch { break }
    }
    if !isBusy { return }
    let (running, left) = state.withLock { state in
      (state.queue.running.sorted { $0.key < $1.key }.map(\.value), state.queue.cancelWaiting())
    }
    for job in running {
      log.warning(
        """
        program still runs and continues without supervision; its next line of standard error ends it, and systemd ends \
        it with the unit
        """, metadata: metadata(of: job))
    }
    if left > 0 { log.error("programs were not started, because there was no time", metadata: ["count": "\(left)"]) }
  }

  /// Ends the wait of ``finish(until:)``.
  package func stopWaiting() { state.withLock { $0.isStopped = true } }

  private var isBusy: Bool { state.withLock { !$0.queue.isIdle } }

  private var counts: Logger.Metadata {
    state.withLock { ["running": "\($0.queue.runningCount)", "waiting": "\($0.queue.waitingCount)"] }
  }
}
