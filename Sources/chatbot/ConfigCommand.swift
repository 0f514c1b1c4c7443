import ArgumentParser
import CommandSettings
import Console
import FoundationEssentials

/// Explains the configuration.
struct ConfigCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config", abstract: "Show where the values of a command's options come from.",
    subcommands: [ShowConfigCommand.self])
}

/// Shows the values of a command's options, with their origins.
struct ShowConfigCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show the value of each option of a command, and where it comes from.",
    discussion: """
      chatbot config show call --config chatbot.yaml --record out/

      The command does not run. The command line is preferred to the variables CHATBOT_…, they to the file of --config, and \
      that to the defaults. Of secrets only the variable is named.
      """)

  @Argument(
    parsing: .allUnrecognized,
    help: ArgumentHelp("A command with its options, as in “chatbot call --record out/”.", valueName: "command"))
  var arguments: [String] = []

  func run() throws {
    let console = Console(isQuiet: false)
    let program = try CommandLineSettings.program()
    // Without a name the default command is meant, as on the command line.
    let settings: CommandSettings
    do {
      settings = try CommandLineSettings.read(arguments, of: program)
    } catch {
      console.report("\(error)")
      throw ExitStatus.usage.exitCode
    }
    if let sentence = UsageAdvice(arguments, of: program.root).sentence { throw ValidationError(sentence) }
    for warning in settings.warnings { console.report(warning) }
    for line in SettingsTable(settings).lines { console.result(line) }
    let environment = ProcessInfo.processInfo.environment
    for variable in CommandLineSettings.secrets.sorted() where environment[variable]?.isEmpty == false {
      console.result("# \(variable) is set; its text is a secret.")
    }
    do {
      try console.checkOutput()
    } catch {
      console.report("Standard output cannot be written: \(error).")
      throw ExitStatus.disk.exitCode
    }
  }
}
