public import ArgumentParser
public import Logging

/// How much is said, the same for every command.
struct LogOptions: ParsableArguments {
  @Option(help: ArgumentHelp("How much is logged. (default: info; of check and inspect: warning)", valueName: "level"))
  var logLevel: Logger.Level?

  @Flag(help: "Say only what went wrong; no status line.")
  var quiet = false

  /// The level that follows from both.
  var level: Logger.Level { logLevel ?? (quiet ? .warning : .info) }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}
