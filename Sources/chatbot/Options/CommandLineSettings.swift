import ArgumentParser
import CommandSettings
import FoundationEssentials
import OptionValues

/// The options of the program in environment variables and files, beside those of the command line.
enum CommandLineSettings {
  /// The commands and options, from the parser.
  static func program() throws -> CommandSettings.Program {
    CommandSettings.Program(
      root: try CommandDescription(dump: Chatbot._dumpHelp()), reserved: reserved,
      exclusive: [Set(PlayOptions.Repetition.allCases.map(\.rawValue))])
  }

  /// Whether variables or a file may say something beside the arguments.
  static func areSet(beside arguments: [String]) -> Bool {
    arguments.contains { $0 == "--config" || $0.hasPrefix("--config=") }
      || ProcessInfo.processInfo.environment.keys.contains { $0.hasPrefix("CHATBOT_") && !reserved.contains($0) }
  }

  /// Adds what variables and a file say to the arguments.
  ///
  /// - Throws: `SettingsError`.
  static func read(_ arguments: [String], of program: CommandSettings.Program) throws -> CommandSettings {
    try CommandSettings(arguments, of: program, environment: ProcessInfo.processInfo.environment) { path in
      do throws(BoundedFile.ReadError) {
        return try BoundedFile.text(path, longest: SettingsFile.maximumBytes)
      } catch {
        throw SettingsError("The configuration \(error.sentence)")
      }
    }
  }

  /// The variables of secrets, whose text is the secret itself.
  static let secrets: Set<String> = [
    "CHATBOT_TOKEN", "CHATBOT_PIN", "CHATBOT_API_SECRET", "CHATBOT_ROOM_TOKEN", "CHATBOT_ICE_CREDENTIALS",
    "CHATBOT_TURN_SECRET",
  ]

  /// Variables that are no options: secrets, the path of the program that decodes, and those of tests and builds.
  private static let reserved = secrets.union([
    "CHATBOT_API_PYTHON", "CHATBOT_API_TOKEN", "CHATBOT_COMPOSITION_TESTS", "CHATBOT_CRASHES",
    "CHATBOT_FFMPEG_PYTHON", "CHATBOT_FILE_BYTES",
    "CHATBOT_FORK_SERVER", "CHATBOT_FUZZ", "CHATBOT_FUZZ_SECONDS", "CHATBOT_FUZZ_TARGET", "CHATBOT_FUZZ_TARGETS",
    "CHATBOT_HOSTILE_SECONDS", "CHATBOT_HOSTILE_SEED", "CHATBOT_INTEROP_CALLS", "CHATBOT_INTERRUPTED_RUN",
    "CHATBOT_JOURNAL", "CHATBOT_MEDIA", "CHATBOT_MOTO_PYTHON", "CHATBOT_NETWORK", "CHATBOT_PION_PEER",
    "CHATBOT_PROGRAM", "CHATBOT_REPAIR_MUTATIONS", "CHATBOT_REQUIRED_OUTCOMES", "CHATBOT_SANITIZER",
    "CHATBOT_SCTP_MESSAGES", "CHATBOT_SCTP_PACKETS", "CHATBOT_SERVICE_BACKENDS", "CHATBOT_SERVICE_CONFIG",
    "CHATBOT_SERVICE_PROGRAM", "CHATBOT_SERVICE_TESTS", "CHATBOT_SERVICE_TOKEN", "CHATBOT_SERVICE_URL",
    "CHATBOT_SNDFILE_FLAC",
    "CHATBOT_SNDFILE_OGG", "CHATBOT_SNDFILE_OTHER", "CHATBOT_SNDFILE_WAV", "CHATBOT_SOAK", "CHATBOT_SOAK_MINUTES",
    "CHATBOT_SOCKETIO_PYTHON", "CHATBOT_SOCKETIO_PYTHON3", "CHATBOT_SOCKETIO_PYTHON4", "CHATBOT_SOCKETIO_PYTHON5",
    "CHATBOT_SWIFT_PYTHON", "CHATBOT_TEST_TARGETS", "CHATBOT_UPDATE_REFERENCE", "CHATBOT_WEBHOOKS_PYTHON",
    "CHATBOT_WEBHOOK_SECRET",
  ])
}
