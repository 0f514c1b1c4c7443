import ArgumentParser
import CallCheck
import Console
import Inspection
import Logging

/// Judges finished recordings as `check` judges a call.
struct InspectCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Judge finished recordings by the same rules as a call.",
    discussion: """
      chatbot inspect out/ --html report.html
      chatbot inspect interview.webm --expect 'video.freeze.longest <= 1s' --expect 'audio.silence <= 2s'

      A recording of this program is one peer, with all its files: its manifest says what was lost and why. Recordings \
      of a user's further streams (alice.2.webm beside alice.webm) are streams of the same peer. Any other \
      WebM, Matroska, Ogg (Opus) or IVF (VP8, VP9, AV1) file is a peer of its own. Recordings of one call are aligned as \
      they were made. Exits with 0 if all rules hold and with 1 if one does not; a rule that cannot be measured does not \
      hold.
      """)

  @Argument(
    help: ArgumentHelp(
      "A .webm, .mkv, .ogg, .mka or .ivf file, a recording's .json (for all its files), or a folder (for all recordings in it).",
      valueName: "file"),
    completion: .file())
  var files: [String] = []

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "How many peers must be there at the same time. (default: as many as are found)", valueName: "count"))
  var peers: Int?

  @OptionGroup(title: "Rules and reports")
  var rules: RuleOptions

  @OptionGroup(title: "Configuration")
  var configFile: ConfigurationOptions

  @OptionGroup(title: "Output")
  var log: LogOptions

  func validate() throws {
    if rules.measurements { return }
    if files.isEmpty { throw ValidationError("Name a recording: a file, or a folder.") }
    if files.contains("") { throw ValidationError("A recording needs a name, but one of the arguments is empty.") }
    if rules.content == .returned {
      throw ValidationError("--content returned is for calls: a recording does not say what was sent to the peer.")
    }
    if let peers, !(1...RecordingInspection.maximumPeers).contains(peers) {
      throw ValidationError("--peers is 1 to \(RecordingInspection.maximumPeers), not \(peers).")
    }
  }

  func run() async throws {
    if rules.measurements { return print(Measurement.list) }
    let console = try log.console()
    let logger = console.logger("inspect", level: log.logLevel ?? (log.quiet ? .error : .warning))
    try await UsageErrors.reported(for: Self.self, on: console) {
      let inspect = Inspect(files: files, peers: peers, rules: rules, console: console, log: logger)
      let outcome = try inspect.run()
      try inspect.report(outcome)
      if !outcome.problems.isEmpty { throw ExitStatus.fileNotPlayable.exitCode }
      switch outcome.report.verdict {
      case .held: break
      case .failed: throw ExitStatus.ruleFailed.exitCode
      case .inconclusive: throw ExitStatus.inconclusive.exitCode
      }
    }
  }
}
