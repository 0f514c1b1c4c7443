import ArgumentParser
import Console
import Recorder

/// Completes recordings that were never closed.
struct RepairCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "repair",
    abstract: "Complete recordings that were never closed, for example after a crash.",
    discussion: """
      Writes what a player needs for seeking, and the duration, into the files as they are. It can be interrupted and run \
      again. Files that are complete, that are being recorded, or that this program did not make are left alone.
      """)

  @Argument(
    help: ArgumentHelp(
      "A .webm, .mkv, .ogg or .mka file, a .json (for all its files), or a folder (for all its unfinished recordings).",
      valueName: "file"),
    completion: .file())
  var files: [String]

  @OptionGroup(title: "Configuration")
  var configFile: ConfigurationOptions

  @Flag(name: .shortAndLong, help: "Print errors only.")
  var quiet = false

  func run() throws {
    let console = Console(isQuiet: quiet)
    var code = ExitStatus.success
    for file in files {
      let reports = RoomRecorder.repair(file)
      if reports.isEmpty { console.say("“\(file)” holds no unfinished recording.") }
      for report in reports {
        switch report.outcome {
        case .repaired, .intact: console.result(report.description)
        case .refused, .missing:
          console.report(report.description)
          if code == .success { code = .fileNotPlayable }
        case .failed:
          console.report(report.description)
          code = .disk
        }
      }
    }
    if code != .success { throw code.exitCode }
  }
}
