public import ArgumentParser
public import Logging

/// The options for log output; the same for every command.
struct LogOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The log level. (default: info; check and inspect: warning)", valueName: "level"))
  var logLevel: Logger.Level?

  @Flag(
    help:
      "Print only warnings, errors and the list of recordings (check and inspect: errors, and the verdict if it did not hold); no status line."
  )
  var quiet = false

  /// The log level; `--quiet` changes the default.
  var level: Logger.Level { logLevel ?? (quiet ? .warning : .info) }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}
