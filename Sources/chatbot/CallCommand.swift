import ArgumentParser
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
      let participantRegistry = try await Call(plan: options.plan, console: console, log: log).run()
      if options.record != nil { try report(participantRegistry, on: console) }
      if let failure = participantRegistry.failure { throw failure }
    }
  }

  /// Lists the recordings, and throws if one failed.
  private func report(_ participantRegistry: ParticipantRegistry, on console: Console) throws(CallFailure) {
    let recordings = participantRegistry.recordings
    let forgotten = participantRegistry.recordingsForgotten
    if forgotten > 0 {
      console.result("\(forgotten) earlier recordings are in the folder too; their manifests report them.")
    }
    for summary in recordings { console.result(RecordingReport(summary).text) }
    if let problem = participantRegistry.recordingProblem { throw problem }
    if participantRegistry.failure != nil || forgotten > 0
      || recordings.contains(where: { !$0.manifest.tracks.isEmpty })
    {
      return
    }
    throw CallFailure(
      .nothingRecorded,
      recordings.isEmpty
        ? "Nothing was recorded, because no user sent media."
        : "Nothing was recorded, because no user sent media that can be recorded.")
  }
}
