import ArgumentParser
import Service

struct CheckConfigCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check-config", abstract: "Check a file of settings.",
    discussion: "Exits with code 64, and names each line that cannot be used.")

  @OptionGroup var options: ConfigurationOptions

  @Argument(help: ArgumentHelp("The file; without it, that of --config.", valueName: "file"), completion: .file())
  var file: String?

  func run() throws {
    var options = options
    options.config = file ?? options.config
    let configuration = try options.read()
    if let problem = configuration.problem {
      ServiceExit.report(problem)
      throw ServiceExit.usage
    }
    print("\(options.path ?? "The default settings"): can be used.")
  }
}
