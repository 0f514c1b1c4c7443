public import Logging
public import Media
public import NIOCore
public import NIOPosix
internal import Processes
public import Signalling
internal import Synchronization

/// A signalling system that a program connects: a child process that speaks lines of JSON on its standard input and output, in any
/// language.
///
/// The program is started when the client connects, and ends with it. When it ends before, it is started again. What it writes to
/// its standard error is logged.
public final class ExecClient: SignallingClient {
  /// The events, in order, until `leave()` or `closed`. At most `Options.maximumWaitingEvents` wait for the reader.
  public let events: SignallingEvents
  public let command: ExecCommand

  private let options: Options
  private let logger: Logger
  private let group: any EventLoopGroup
  private let inbox: SignallingEventBuffer
  private let reconnection: ReconnectingSession
  /// Guarded by a lock because `send` is called from any thread and must keep the order of its calls.
  private let shared: Mutex<Shared>
  /// A program that writes nothing useful must not fill the log.
  private let lines = Mutex(LogRateLimiter(perSecond: 1, burst: 20))

  private struct Shared {
    var session: ExecSession
    var process: ChildProcess?
    /// Why we have no use for the process any more.
    var ending: ExecOutput.Ending?
    var isConnecting = false
    var isClosed = false
    var task: Task<Void, Never>?
  }

  /// A start of the program, with the task that watches its timeouts.
  private struct Run: Sendable {
    var process: ChildProcess
    var ticking: Task<Void, Never>
  }

  /// What the system can do; after `connect()`, as the program has said.
  public var capabilities: SignallingCapabilities { shared.withLock { $0.session.capabilities } }

  /// Creates a client whose program is not started yet.
  ///
  /// - Parameters:
  ///   - command: the program and its arguments.
  ///   - options: the room, our name, timeouts and limits.
  ///   - logger: logs the program's standard error, and what it writes in vain.
  ///   - group: one of its event loops serves the pipes.
  public init(
    command: ExecCommand, options: Options = Options(), logger: Logger = Logger(label: "exec.client"),
    on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
  ) {
    self.command = command
    self.options = options
    self.logger = logger
    self.group = group
    (events, inbox) = SignallingEventBuffer.make(limit: options.maximumWaitingEvents)
    reconnection = ReconnectingSession(
      .init(
        minimumDelay: options.minimumRetryDelay, maximumDelay: options.maximumRetryDelay,
        resetAge: options.backoffResetAge)
    ) { try? await group.any().sleep(for: $0) }
    shared = Mutex(Shared(session: ExecSession(configuration: options.configuration(program: command.description))))
  }

  deinit {
    inbox.finish()
  }

  // MARK: Calls of the owner

  /// Starts the program and joins; the first event is `joined`, after any `iceServers`. From then on the program is started
  /// again when it ends.
  ///
  /// - Throws: if the program cannot be started, ends, or does not join. `connect` may then be called again.
  public func connect() async throws(SignallingConnectError) {
    let isFree = shared.withLock { shared in
      if shared.isConnecting || shared.isClosed || shared.task != nil { return false }
      shared.isConnecting = true
      return true
    }
    guard isFree else { throw .invalidConfiguration("The client is connected already, or has left.") }
    defer { shared.withLock { $0.isConnecting = false } }
    let run: Run
    do throws(ChildProcess.StartError) {
      run = try await start()
    } catch {
      throw error.isPermanent ? .invalidConfiguration(error.description) : .unreachable(error.description)
    }
    if await read(run.process, untilJoined: true) || isClosed {
      switch await end(run) {
      case .lost(let reason)?: throw .unreachable(reason)
      case .rejected(let reason)?, .ended(let reason)?: throw .rejected(reason)
      case nil: throw .rejected("The client has left before it had joined.")
      }
    }
    shared.withLock { $0.task = Task { await self.stayJoined(in: run) } }
  }

  /// Sends a message to a participant. It is discarded if we have not joined or the participant is not there.
  public func send(_ message: SignallingMessage, to participant: ParticipantID) {
    perform { $0.send(message, to: participant) }
  }

  /// Tells the program that the connection to a participant has ended.
  public func hangUp(_ participant: ParticipantID) {
    perform { $0.hangUp(participant) }
  }

  /// Shortens a wait before the program is started again to `Options.minimumRetryDelay`.
  public func verifyConnection() {
    if shared.withLock({ $0.process == nil }) { reconnection.shortenWait() }
  }

  /// Tells the program to leave, ends `events`, and returns when the program has ended: by itself within
  /// `Options.leaveTimeout`, or by SIGTERM and, after the same time, SIGKILL.
  public func leave() async {
    let process = shared.withLock { shared in
      if !shared.isClosed { Self.transmit(shared.session.leave(), in: &shared) }
      shared.isClosed = true
      return shared.process
    }
    reconnection.leave()
    inbox.finish()
    await process?.end(within: options.leaveTimeout, grace: options.leaveTimeout)
    await shared.withLock { $0.task }?.value
  }

  private var isClosed: Bool { shared.withLock { $0.isClosed } }

  private func perform(_ work: (inout ExecSession) -> ExecOutput) {
    log(
      shared.withLock { shared in
        let output = work(&shared.session)
        Self.transmit(output, in: &shared)
        return output
      }.problems)
  }

  // MARK: One run of the program

  /// Starts the program and says hello.
  private func start() async throws(ChildProcess.StartError) -> Run {
    let logger = self.logger
    let program = command.description.printable(utf8Bytes: 60)
    let process = try await ChildProcess.start(command.words, on: group.any()) { line in
      logger.info(
        "\(program): \(line.text)",
        metadata: line.suppressedCount > 0 ? ["lines left out before": "\(line.suppressedCount)"] : nil)
    }
    shared.withLock { shared in
      shared.process = process
      shared.ending = nil
      guard !shared.isClosed else { return process.stopReading() }
      Self.transmit(shared.session.started(now: .now), in: &shared)
    }
    let ticking = Task { [weak self, group] in
      while !Task.isCancelled {
        guard let wait = self?.poll(process) else { return }
        do { try await group.any().sleep(for: wait) } catch { return }
      }
    }
    return Run(process: process, ticking: ticking)
  }

  /// Does what is due.
  ///
  /// - Returns: the wait until the next call, or nil if nothing more is due: we have joined, or the process is of no use.
  private func poll(_ process: ChildProcess) -> Duration? {
    let now = MonotonicInstant.now
    let (output, deadline) = shared.withLock { shared in
      let output = shared.session.poll(now: now)
      Self.transmit(output, in: &shared)
      return (output, shared.session.deadline)
    }
    log(output.problems)
    guard output.ending == nil, let deadline else { return nil }
    // A received message can bring the deadline forward.
    return min(max(deadline - now, .milliseconds(10)), .milliseconds(500))
  }

  /// Handles what the program writes until it ends or is of no use any more.
  ///
  /// - Parameter untilJoined: return as soon as we have joined.
  /// - Returns: whether it has ended or is of no use any more.
  private func read(_ process: ChildProcess, untilJoined: Bool) async -> Bool {
    for await bytes in process.output {
      let output = shared.withLock { shared in
        let output = shared.session.received(bytes, now: .now)
        Self.transmit(output, in: &shared)
        return output
      }
      log(output.problems)
      var hasJoined = false
      for event in output.events {
        if case .joined = event { hasJoined = true }
        await inbox.deliver(event)
      }
      process.readMore()
      // What ended the run since then is found by the next call.
      if untilJoined, hasJoined { return false }
      if output.ending != nil { return true }
    }
    return true
  }

  /// Ends a run, and reaps the program.
  ///
  /// - Returns: why it ended; nil if we have left.
  private func end(_ run: Run) async -> ExecOutput.Ending? {
    run.ticking.cancel()
    let (known, isClosed) = shared.withLock { shared in
      shared.session.stopped()
      return (shared.ending, shared.isClosed)
    }
    let process = run.process
    var ending = known
    if known == nil, !isClosed {
      // What closed its pipes is about to end, as a rule.
      let how = await process.exited(within: .seconds(1))
      await process.diagnosticsRead()
      let name = command.description
      let closed = process.isInputClosed ? "input" : "output"
      ending = .lost(
        reason: how.map { $0.sentence(of: name, lastLine: process.lastDiagnostic) }
          ?? "\(name.printable(utf8Bytes: 60)) has closed its standard \(closed).")
    }
    // A program that says itself that it is over may end by itself; one that has left has the time of `leave()`.
    let patience: Duration =
      switch known {
      case .rejected?, .ended?: options.leaveTimeout
      case .lost?: .zero
      case nil: isClosed ? options.leaveTimeout : .zero
      }
    await process.end(within: patience, grace: options.leaveTimeout)
    return shared.withLock { shared in
      if shared.process === process { shared.process = nil }
      return shared.isClosed ? nil : ending
    }
  }

  // MARK: Staying joined

  /// Uses the first run, in which we have joined, and starts the program again.
  private func stayJoined(in first: Run) async {
    await reconnection.run(
      from: first,
      connect: { () async throws(ReconnectionState.ConnectionEnd) -> Run in
        do throws(ChildProcess.StartError) {
          return try await start()
        } catch {
          throw .lost(reason: error.description)
        }
      },
      follow: { run in
        _ = await read(run.process, untilJoined: false)
        switch await end(run) {
        case .lost(let reason)?: return .lost(reason: reason)
        case .rejected(let reason)?: return .rejected(reason: reason)
        case .ended(let reason)?: return .closed(reason: reason)
        case nil: return .finished
        }
      },
      deliver: { event in await inbox.deliver(event) })
    inbox.finish()
  }

  /// Writes requests, and ends the run if the session says so or the program does not read.
  private static func transmit(_ output: ExecOutput, in shared: inout Shared) {
    guard let process = shared.process else { return }
    var ending = output.ending
    for request in output.requests where !process.write(request.line) {
      ending =
        ending
        ?? .lost(
          reason:
            "\(shared.session.program) does not read its standard input: \(ChildProcess.maximumWaitingBytes) bytes wait."
        )
    }
    if let ending, shared.ending == nil {
      shared.ending = ending
      process.stopReading()
    }
  }

  private func log(_ problems: [ExecOutput.Problem]) {
    for problem in problems {
      let level: Logger.Level = problem.isWarning ? .warning : .debug
      guard level >= logger.logLevel, let suppressedCount = lines.withLock({ $0.consume(now: .now) }) else {
        continue
      }
      logger.log(
        level: level, "\(problem.sentence)",
        metadata: suppressedCount > 0 ? ["others since the last line": "\(suppressedCount)"] : nil)
    }
  }
}
