public import ArgumentParser
import Console
public import Logging
import OptionValues

/// The options for log output; the same for every command.
struct LogOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The log level. (default: info; check and inspect: warning)", valueName: "level"))
  var logLevel: Logger.Level?

  @Flag(
    help:
      "Print only warnings, errors and the list of recordings (check and inspect: errors, and the verdict if it did not hold); no status line."
  )
  var quiet = false

  @Option(
    help: ArgumentHelp(
      "Write log lines into this file instead of standard error; when it is full, it is renamed, and 5 are kept.",
      valueName: "file"),
    completion: .file())
  var logFile: String?

  @Option(
    help: ArgumentHelp("The size of a full log file: 500kB, 10MB. (default: 10MB)", valueName: "size"),
    transform: LogSize.parse)
  var logSize: LogSize?

  @Option(help: ArgumentHelp("Log lines for people, or one JSON object for each.", valueName: "text|json"))
  var logFormat: LogFormat = .text

  @Option(
    help: ArgumentHelp(
      "Use colours: auto is on a terminal, unless the variable NO_COLOR is set.", valueName: "auto|always|never"))
  var color: ColorChoice = .auto

  /// The log level; `--quiet` changes the default.
  var level: Logger.Level { logLevel ?? (quiet ? .warning : .info) }
}

extension LogOptions {
  func validate() throws {
    if logFile?.isEmpty == true { throw ValidationError("--log-file needs the name of a file.") }
    if logFile == nil, logSize != nil { throw ValidationError("--log-size needs --log-file.") }
  }

  /// Opens the log file, and returns the console that a command writes to.
  func console() throws -> Console {
    let console = Console(isQuiet: quiet, color: color, format: logFormat)
    guard let logFile else { return console }
    do {
      let file = try LogFile(path: logFile, size: logSize?.bytes ?? LogFile.defaultSize, format: logFormat)
      return Console(isQuiet: quiet, color: color, format: logFormat, logFile: file)
    } catch {
      console.report("\(logFile) cannot be written: \(error).")
      throw ExitStatus.disk.exitCode
    }
  }
}

extension LogFormat: ExpressibleByArgument {}
extension ColorChoice: ExpressibleByArgument {}

extension Logger.Level: @retroactive ExpressibleByArgument {}
