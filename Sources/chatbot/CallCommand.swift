import ArgumentParser
import Call
import Console
import Logging
import MetricsEndpoint
import Recorder
import Synchronization

/// Joins a call: records, plays, or both.
struct CallCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "call", abstract: "Join the call of a room (the default command).")

  @OptionGroup var options: CallOptions

  @OptionGroup(title: "Metrics") var metrics: MetricsOptions

  func run() async throws {
    let console = try options.log.console()
    let log = console.logger("chatbot", level: options.log.level)
    try await console.carryOut {
      let settings = try options.settings()
      let composition = try options.compose.map { try CallComposition(output: $0, console: console) }
      var runner = CallRunner(settings: settings, console: console, log: log)
      if metrics.areServed {
        let values = CallMetrics(isRecording: options.record != nil)
        try await metrics.serve({ values.text }, console: console)
        runner.metrics = values
      }
      let upload = try await StoreUpload.begin(options, console: console, log: log)
      let failure = Mutex<CallFailure?>(nil)
      let (isRecording, ending) = (options.record != nil, options.ending)
      let result: Result<RoomCall.Outcome, any Error>
      do {
        result = .success(
          try await runner.stay { outcome in
            let report = OutcomeReport(outcome: outcome, options: ending, console: console)
            let problem = report.write(isRecording: isRecording)
            if let problem { console.report(problem.sentence) }
            failure.withLock { $0 = problem }
          })
      } catch {
        result = .failure(error)
      }
      let storeFailure = await upload?.finish()
      let outcome = try result.get()
      if let folder = options.record { await composition?.run(outcome, folder: folder) }
      try runner.check(outcome)
      if isRecording { try OutcomeReport(outcome: outcome, options: ending, console: console).check() }
      if let failure = outcome.failure { throw failure }
      // It has been reported.
      if let failure = failure.withLock(\.self) { throw failure.code.exitCode }
      if let storeFailure { throw storeFailure.code.exitCode }
    }
  }
}

/// What a call says when it is over.
struct OutcomeReport {
  let outcome: RoomCall.Outcome
  let options: EndingOptions
  let console: Console

  /// Lists the recordings and the users, and writes the file of `--summary`.
  ///
  /// - Returns: What could not be written, and why.
  func write(isRecording: Bool) -> CallFailure? {
    if isRecording { listRecordings() }
    // The sentence of the error says the rest.
    if case .notAdmitted = outcome.endReason {} else { show(outcome.summary.text) }
    var files = [outcome.summaryFile].compactMap(\.self)
    var failure = outcome.summaryProblem.map { CallFailure(.disk, $0) }
    if let file = options.summary {
      do {
        let json = try outcome.summary.json
        if usesStandardOutput { try console.document(json) } else { try DocumentFile.write(json, to: file) }
        if !usesStandardOutput { files.append(file) }
      } catch {
        let name = usesStandardOutput ? "Standard output" : file
        failure = CallFailure(.disk, DocumentFile.sentence(error, writing: name))
      }
    }
    if !files.isEmpty { show("Summary: \(files.joined(separator: ", "))") }
    return failure
  }

  private func listRecordings() {
    let forgotten = outcome.recordingsForgotten
    if forgotten > 0 { show("\(forgotten) earlier recordings are in the folder too; their manifests report them.") }
    for summary in outcome.recordings { show(summary.text, isWanted: true) }
  }

  /// Whether the JSON uses standard output, so that nothing else may be written there.
  private var usesStandardOutput: Bool { options.summary == EndingOptions.standardOutput }

  private func show(_ text: String, isWanted: Bool = false) {
    if usesStandardOutput { console.say(text) } else { console.result(text, isWanted: isWanted) }
  }

  /// Throws if a recording or the call failed, or if less was recorded than was asked for.
  func check() throws(CallFailure) {
    if let failure = outcome.recordingFailure ?? outcome.failure { throw failure }
    if let sentence = outcome.missingRecordings(of: options.require) { throw CallFailure(.nothingRecorded, sentence) }
  }
}
