import ArgumentParser
import FoundationEssentials
import Service

/// The file of settings, and what the command line changes of it.
struct ConfigurationOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "A YAML file with settings. (default: the variable CHATBOT_SERVICE_CONFIG, else all settings have their defaults)",
      valueName: "file"), completion: .file(extensions: ["yaml", "yml"]))
  var config: String?

  var path: String? { config ?? ProcessInfo.processInfo.environment[ServiceConfiguration.fileVariable] }

  /// Reads the settings; ends with code 64 where they cannot be used.
  func read() throws -> ServiceConfiguration {
    do throws(ServiceConfiguration.LoadError) {
      return try ServiceConfiguration.load(from: path)
    } catch {
      ServiceExit.report(error.description)
      throw ServiceExit.usage
    }
  }
}
