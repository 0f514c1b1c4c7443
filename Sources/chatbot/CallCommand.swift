import ArgumentParser
import Call
import Console
import Logging
import Recorder

/// Joins a call: records, plays, or both.
struct CallCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "call", abstract: "Join the call of a room (the default command).")

  @OptionGroup var options: CallOptions

  func run() async throws {
    let console = Console(isQuiet: options.log.quiet)
    let log = console.logger("chatbot", level: options.log.level)
    try await console.carryOut {
      let outcome = try await CallRunner(settings: try options.settings(), console: console, log: log).run()
      if options.record != nil { try report(outcome, on: console) }
      if let failure = outcome.failure { throw failure }
    }
  }

  /// Lists the recordings, and throws if one failed.
  private func report(_ outcome: RoomCall.Outcome, on console: Console) throws(CallFailure) {
    let recordings = outcome.recordings
    let forgotten = outcome.recordingsForgotten
    if forgotten > 0 {
      console.result("\(forgotten) earlier recordings are in the folder too; their manifests report them.")
    }
    for summary in recordings { console.result(summary.text) }
    if let failure = outcome.recordingFailure { throw failure }
    if outcome.failure != nil || forgotten > 0 || recordings.contains(where: { !$0.manifest.tracks.isEmpty }) { return }
    throw CallFailure(
      .nothingRecorded,
      recordings.isEmpty
        ? "Nothing was recorded, because no user sent media."
        : "Nothing was recorded, because no user sent media that can be recorded.")
  }
}
