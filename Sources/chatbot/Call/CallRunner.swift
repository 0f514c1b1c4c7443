import BotPeer
import Call
import Console
import Logging
import Media
import MetricsEndpoint
import Recorder
import SkyRTC

/// Runs a call for a command. Wiring only: opens the input, joins, waits for a signal, and gives each error its exit code.
struct CallRunner {
  let settings: CallSettings
  let console: Console
  let log: Logger
  /// Observes the call and may end it; nil if no observer is needed.
  var observer: (any RoomCallObserver)?
  /// Samples the call, and observes it if nobody else does; nil if no metrics are served.
  var metrics: CallMetrics?
  /// Called with the call before it joins.
  var began: @Sendable (RoomCall) -> Void = { _ in }
  /// Called instead of leaving when a signal asks for the end, also before the room is joined; signals and keys then pause nothing.
  var interrupted: (@Sendable () -> Void)?

  /// Joins the room and stays until something ends the call, and throws if the call failed.
  func run() async throws -> RoomCall.Outcome {
    let outcome = try await stay()
    try check(outcome)
    return outcome
  }

  /// Joins the room and stays until something ends the call, then waits for the programs that run for recordings.
  ///
  /// - Parameter report: Called when the call is over, before that wait.
  func stay(reporting report: @Sendable (RoomCall.Outcome) -> Void = { _ in }) async throws -> RoomCall.Outcome {
    let interruption = Interruption()
    if let interrupted {
      interruption.beginOrderly()
      Task {
        await interruption.first()
        interrupted()
      }
    }
    let requests =
      interrupted == nil && settings.call.recording != nil
      ? PauseRequest.all(hasKeys: observer == nil && console.isTerminal) : nil
    defer { TerminalKeys.restore() }
    // Each participant may need three files and one or two sockets.
    FileDescriptorLimit.allowMany()
    // Find errors that need no network before joining, so that no participant notices them.
    try settings.server.check()
    let source = try settings.camera?.open(log: log, isAnnounced: true)
    let client = try settings.server.client(log: log)
    let call: RoomCall
    do {
      call = try await RoomCall(
        settings.call, client: client, source: source, observer: observer ?? metrics, on: MediaThread.loop,
        and: MediaThread.more(settings.mediaThreads - 1), log: log)
    } catch let error as RoomCall.FileError {
      throw CallFailure(error)
    } catch let error as Peer.StartError {
      throw CallFailure(.usage, error.description)
    }
    began(call)
    if let folder = settings.call.recording?.folder { reportUnfinished(in: folder) }
    // An upload of the folder sees by it that there is more to come.
    let lock = settings.call.recording.flatMap { FolderLock(sharing: $0.folder) }
    defer { withExtendedLifetime(lock) {} }
    let embedded = try await ServerConnector(settings: settings, console: console, log: log).join(call)
    interruption.beginOrderly()
    let outcome = await run(call, interruption, requests, reporting: report)
    await embedded?.shutdown()
    return outcome
  }

  /// Runs the call until it ends or a signal arrives, and shows its state on a terminal.
  private func run(
    _ call: RoomCall, _ interruption: Interruption, _ requests: AsyncStream<PauseRequest>?,
    reporting report: @Sendable (RoomCall.Outcome) -> Void
  ) async -> RoomCall.Outcome {
    await withDiscardingTaskGroup { group in
      if interrupted == nil {
        group.addTask {
          await interruption.first()
          if !Task.isCancelled { call.leave(because: "a signal arrived") }
        }
      }
      if let requests {
        group.addTask { for await request in requests { _ = request == .pause ? call.pause() : call.resume() } }
      }
      if let metrics { group.addTask { await metrics.run(call) } }
      if observer == nil, console.isTerminal {
        group.addTask { await StatusTask(call: call, console: console, room: settings.server.roomName).run() }
      }
      let outcome = await call.run()
      console.clearStatus()
      report(outcome)
      await call.finishPrograms()
      group.cancelAll()
      return outcome
    }
  }

  /// Throws if the call failed without recordings that could be reported.
  func check(_ outcome: RoomCall.Outcome) throws(CallFailure) {
    if case .notAdmitted(let reason) = outcome.endReason {
      throw CallFailure(.serverNotReached, "\(settings.server.name) refused the join: \(reason)")
    }
    if case .signallingClosed(let reason) = outcome.endReason, observer == nil, !outcome.hasConnected {
      throw CallFailure(.serverNotReached, reason)
    }
    if let failure = outcome.sourceFailure { throw CallFailure(.fileNotPlayable, failure) }
  }

  /// Logs which recordings an earlier run left unfinished, and how to repair them.
  private func reportUnfinished(in folder: String) {
    let unfinished = RoomRecorder.unfinished(in: folder)
    guard let first = unfinished.first else { return }
    let what = unfinished.count == 1 ? "The recording \(first)" : "\(unfinished.count) recordings"
    let verb = unfinished.count == 1 ? "was" : "were"
    log.warning(
      "\(what) in this folder \(verb) never finished; run chatbot repair", metadata: ["folder": "\(folder)"])
  }
}

extension RoomCall.Outcome {
  /// Why the call as a whole has failed, although there may be recordings.
  var failure: CallFailure? {
    guard case .rejected(let reason) = endReason else { return nil }
    return CallFailure(.serverNotReached, reason)
  }

  /// What is missing in recordings, and why.
  var recordingFailure: CallFailure? {
    recordingProblem.map { CallFailure($0.kind == .lost ? .disk : .overloaded, $0.sentence) }
  }
}

extension CallFailure {
  /// The failure of a file that is to be sent, or of a folder for recordings, chat or files.
  init(_ error: RoomCall.FileError) {
    let code: ExitStatus =
      switch error.cause {
      case .unreadable: .fileNotPlayable
      case .unwritable: .disk
      case .sharedFolder: .usage
      }
    self.init(code, error.description)
  }
}
