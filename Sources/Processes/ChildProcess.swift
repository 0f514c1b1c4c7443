internal import CProcesses
internal import Glibc
package import Media
package import NIOCore
internal import NIOPosix
internal import Synchronization

/// A program that runs as a child, with pipes for its standard input, output and error. It leads a process group of its own, and is
/// always reaped; what is left of its group is killed then, unless it may stay.
///
/// No call waits on an event loop or in a task; a thread waits for the end of the program.
package final class ChildProcess: Sendable {
  /// Why a program could not be started. The description is one sentence.
  package struct StartError: Error, Sendable, Hashable, CustomStringConvertible {
    package var description: String
    /// Whether the same command will fail again: there is no such program, or it cannot be executed.
    package var isPermanent: Bool
  }

  /// Pieces of the standard output, in order; each is followed by ``readMore()``. For one reader.
  package let output: AsyncStream<[UInt8]>
  package let id: Int32
  private let killsGroup: Bool

  /// The number of bytes that may wait until the program reads them.
  package static let maximumWaitingBytes = 4 << 20

  private let loop: any EventLoop
  private let outputEnd: AsyncStream<[UInt8]>.Continuation
  private let exit: EventLoopFuture<ChildExit>
  private let state = Mutex(State())
  private let diagnostics = Mutex(DiagnosticLines())
  private let report: @Sendable (DiagnosticLines.Line) -> Void

  private struct State {
    var input: (any Channel)?
    var outputReader: NIOLoopBound<PipeReader>?
    var errorReader: NIOLoopBound<PipeReader>?
    /// The open ends of the pipes.
    var channels: [any Channel] = []
    var waitingBytes = 0
    var isInputClosed = false
    var isErrorOutputOver = false
    /// The number of pieces of the standard error that were read.
    var errorPieces = 0
    var isReaped = false
  }

  private init(
    id: Int32, killsGroup: Bool, loop: any EventLoop, exit: EventLoopFuture<ChildExit>,
    report: @escaping @Sendable (DiagnosticLines.Line) -> Void
  ) {
    self.id = id
    self.killsGroup = killsGroup
    self.loop = loop
    self.exit = exit
    self.report = report
    (output, outputEnd) = AsyncStream.makeStream(of: [UInt8].self)
  }

  // MARK: Starting

  /// Starts a program without a shell.
  ///
  /// - Parameters:
  ///   - words: the program, a path or a name that is looked up in `PATH`, and its arguments.
  ///   - environment: its environment variables; nil for those of this process. None may have a character with the number 0.
  ///   - onlyErrors: whether only the standard error is read: standard input is empty, and standard output is discarded.
  ///   - killsGroup: whether what the program leaves in its group is killed when it has ended.
  ///   - loop: serves its pipes.
  ///   - report: called with lines of its standard error, on the event loop.
  package static func start(
    _ words: [String], environment: [String: String]? = nil, onlyErrors: Bool = false, killsGroup: Bool = true,
    on loop: any EventLoop, report: @escaping @Sendable (DiagnosticLines.Line) -> Void
  ) async throws(StartError) -> ChildProcess {
    var ends: [Int32] = [-1, -1, -1]
    var id: pid_t = 0
    let arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    let variables: [UnsafeMutablePointer<CChar>?]? = environment.map { $0.map { strdup("\($0)=\($1)") } + [nil] }
    let error = Self.start(arguments, variables, onlyErrors, &ends, &id)
    for text in arguments + (variables ?? []) { free(text) }
    guard error == 0 else { throw StartError(number: error, program: words.first ?? "") }
    let exited = loop.makePromise(of: ChildExit.self)
    let child = ChildProcess(
      id: id, killsGroup: killsGroup, loop: loop, exit: exited.futureResult, report: report)
    let isWatched = DedicatedThread.start("child \(id)") { [id] in
      _ = cprocesses_wait(id)
      exited.succeed(child.reap())
    }
    guard isWatched else {
      for end in ends where end >= 0 { close(end) }
      cprocesses_signal(id, SIGKILL)
      exited.succeed(child.reap())
      throw StartError(
        description: "No thread can be started to wait for \((words.first ?? "").printable(utf8Bytes: 120)).",
        isPermanent: false)
    }
    await child.open(ends)
    // What is not of its group may hold the other ends of its pipes.
    child.exit.whenSuccess { [weak child] _ in child?.stopReadingSoon() }
    return child
  }

  private static func start(
    _ arguments: [UnsafeMutablePointer<CChar>?], _ variables: [UnsafeMutablePointer<CChar>?]?, _ onlyErrors: Bool,
    _ ends: inout [Int32], _ id: inout pid_t
  ) -> Int32 {
    let onlyErrors: Int32 = onlyErrors ? 1 : 0
    guard let variables else { return cprocesses_start(arguments, nil, onlyErrors, &ends, &id) }
    return cprocesses_start(arguments, variables, onlyErrors, &ends, &id)
  }

  /// Makes channels of the ends of the pipes. One that cannot be opened counts as closed by the program.
  private func open(_ ends: [Int32]) async {
    let errorReader = await open(
      ends[2], bytesInInterval: 1 << 16, received: { [weak self] bytes in self?.received(diagnostics: bytes) },
      ended: { [weak self] in self?.diagnosticsEnded() })
    state.withLock { $0.errorReader = errorReader }
    if ends[0] < 0 {
      outputEnd.finish()
      state.withLock { $0.isInputClosed = true }
      return loop.execute { errorReader?.value.more() }
    }
    let outputReader = await open(
      ends[1], bytesInInterval: 1 << 20, received: { [outputEnd] bytes in outputEnd.yield(bytes) },
      ended: { [outputEnd] in outputEnd.finish() })
    state.withLock { $0.outputReader = outputReader }
    await open(standardInput: ends[0])
    for reader in [errorReader, outputReader] { loop.execute { reader?.value.more() } }
  }

  private func open(
    _ end: Int32, bytesInInterval: Int, received: @escaping @Sendable ([UInt8]) -> Void,
    ended: @escaping @Sendable () -> Void
  ) async -> NIOLoopBound<PipeReader>? {
    do {
      let (channel, reader) = try await NIOPipeBootstrap(group: loop)
        .channelOption(.autoRead, value: false)
        .takingOwnershipOfDescriptor(input: end) { channel in
          channel.eventLoop.makeCompletedFuture {
            let reader = PipeReader(bytesInInterval: bytesInInterval, received: received, ended: ended)
            try channel.pipeline.syncOperations.addHandler(reader)
            return (channel, NIOLoopBound(reader, eventLoop: channel.eventLoop))
          }
        }
      state.withLock { $0.channels.append(channel) }
      return reader
    } catch {
      close(end)
      ended()
      return nil
    }
  }

  private func open(standardInput end: Int32) async {
    do {
      let channel = try await NIOPipeBootstrap(group: loop).channelOption(.autoRead, value: false)
        .takingOwnershipOfDescriptor(output: end).get()
      state.withLock { state in
        state.input = channel
        state.channels.append(channel)
      }
      channel.closeFuture.whenComplete { [weak self] _ in self?.inputEnded() }
    } catch {
      close(end)
      inputEnded()
    }
  }

  /// The program has closed its standard input. If it ends, the end of its standard output follows, perhaps after a last
  /// message; if not, it is of no use.
  private func inputEnded() {
    state.withLock { $0.isInputClosed = true }
    stopReadingSoon()
  }

  private func stopReadingSoon() {
    loop.scheduleTask(in: .seconds(1)) { [outputEnd] in outputEnd.finish() }
  }

  private func received(diagnostics bytes: [UInt8]) {
    for line in diagnostics.withLock({ $0.lines(in: bytes, now: .now) }) { report(line) }
    let reader = state.withLock { state in
      state.errorPieces &+= 1
      return state.errorReader
    }
    reader?.value.more()
  }

  private func diagnosticsEnded() {
    if let line = diagnostics.withLock({ $0.end(now: .now) }) { report(line) }
    state.withLock { $0.isErrorOutputOver = true }
  }

  // MARK: Pipes

  /// Queues text for the standard input. Texts of one thread are written in the order of the calls.
  ///
  /// - Returns: false if the program does not read: more than ``maximumWaitingBytes`` wait.
  package func write(_ text: String) -> Bool {
    let count = text.utf8.count
    let (channel, isTooMuch) = state.withLock { state in
      guard state.waitingBytes + count <= Self.maximumWaitingBytes else { return (nil as (any Channel)?, true) }
      guard let input = state.input, !state.isInputClosed else { return (nil, false) }
      state.waitingBytes += count
      return (input, false)
    }
    guard let channel else { return !isTooMuch }
    channel.writeAndFlush(ByteBuffer(string: text)).whenComplete { [weak self] _ in
      self?.state.withLock { $0.waitingBytes -= count }
    }
    return true
  }

  /// Reads the next piece of the standard output.
  package func readMore() {
    guard let reader = state.withLock({ $0.outputReader }) else { return }
    loop.execute { reader.value.more() }
  }

  /// Ends ``output``; pieces that wait can still be read.
  package func stopReading() { outputEnd.finish() }

  /// Whether the program has closed its standard input.
  package var isInputClosed: Bool { state.withLock { $0.isInputClosed } }

  /// The last line of the standard error, in printable form.
  package var lastDiagnostic: String? { diagnostics.withLock { $0.last } }

  // MARK: Ending

  /// Waits for the end of the program.
  ///
  /// - Returns: how it ended, or nil if it still runs after `limit`.
  package func exited(within limit: Duration) async -> ChildExit? {
    let result = loop.makePromise(of: ChildExit?.self)
    // The first of both counts.
    let timer = loop.scheduleTask(in: TimeAmount(max(limit, .zero))) { result.succeed(nil) }
    exit.whenSuccess { how in
      timer.cancel()
      result.succeed(how)
    }
    return (try? await result.futureResult.get()) ?? nil
  }

  /// Waits until everything that the program wrote to its standard error was read: until the pipe is closed on the other side, or
  /// nothing has come for 200 ms, because something else holds it.
  package func diagnosticsRead(within limit: Duration = .seconds(2)) async {
    let deadline = MonotonicInstant.now + limit
    var (pieces, quiet) = (state.withLock(\.errorPieces), 0)
    // The turns are counted, as a loop that is late is late for the pipe too.
    while quiet < 20, MonotonicInstant.now < deadline, !state.withLock(\.isErrorOutputOver) {
      do { try await loop.sleep(for: .milliseconds(10)) } catch { return }
      let now = state.withLock(\.errorPieces)
      quiet = now == pieces ? quiet + 1 : 0
      pieces = now
    }
  }

  /// Waits for the end of the program, and sends signals to its process group if it does not end by itself. Then reads the rest of
  /// its standard error, for which it waits no longer than `grace`, and closes the pipes.
  ///
  /// - Parameters:
  ///   - patience: the wait before SIGTERM.
  ///   - grace: the wait between SIGTERM and SIGKILL.
  @discardableResult
  package func end(within patience: Duration, grace: Duration = .seconds(2)) async -> ChildExit {
    defer { closePipes() }
    // The waiting task may be cancelled, but the program ends nevertheless.
    for (limit, next) in [(patience, SIGTERM), (grace, SIGKILL), (min(grace, .milliseconds(500)), nil as Int32?)] {
      if let how = await exited(within: limit) {
        await diagnosticsRead(within: grace)
        return how
      }
      if let next { signal(next) }
    }
    // A program of another user cannot be killed; it learns by its pipes that nobody waits.
    closePipes()
    return await exited(within: grace) ?? .unknown
  }

  private func closePipes() {
    stopReading()
    for channel in state.withLock({ $0.channels }) { channel.close(promise: nil) }
  }

  private func signal(_ number: Int32) {
    // Under the lock, so that the id is not that of another program.
    state.withLock { state in
      if !state.isReaped { cprocesses_signal(id, number) }
    }
  }

  /// Reaps the program, which has ended, and kills what is left of its group unless that may stay.
  private func reap() -> ChildExit {
    state.withLock { state in
      if killsGroup { cprocesses_signal(id, SIGKILL) }
      state.isReaped = true
      return ChildExit(result: cprocesses_reap(id))
    }
  }
}

extension ChildProcess.StartError {
  fileprivate init(number: Int32, program: String) {
    let name = program.printable(utf8Bytes: 120)
    switch number {
    case ENOENT:
      self.init(
        description: "There is no program \(name), or it is a script whose first line names none.", isPermanent: true)
    case EACCES: self.init(description: "\(name) is no program that may be executed.", isPermanent: true)
    case ENOEXEC:
      self.init(
        description: "\(name) is no program; a script begins with a line such as #!/usr/bin/env python3.",
        isPermanent: true)
    case E2BIG: self.init(description: "The arguments of \(name) are too long.", isPermanent: true)
    default:
      let reason = strerror(number).map { String(cString: $0) } ?? "error \(number)"
      self.init(description: "\(name) cannot be started: \(reason).", isPermanent: false)
    }
  }
}
