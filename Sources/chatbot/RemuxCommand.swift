import ArgumentParser
import Composer
import Console

/// Copies a recording into another container.
struct RemuxCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remux",
    abstract: "Copy a recording into another container without encoding its video.",
    discussion: """
      chatbot remux out/alice.mkv -o alice.mp4
      chatbot remux out/alice.mkv -o alice.mp4 --audio aac
      chatbot remux out/alice.ogg -o alice.wav

      Where the container cannot hold what was recorded, it says so, and which compose command encodes it.
      """)

  @Argument(help: ArgumentHelp("A media file of a recording.", valueName: "file"), completion: .file())
  var file: String

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("The file to write; .mp4, .mov, .mkv, .webm or .wav.", valueName: "file"), completion: .file())
  var output: String

  @Option(help: ArgumentHelp("The sound: copy, aac or opus.", valueName: "codec"))
  var audio: String?

  @Flag(help: "Overwrite the file if there is one.")
  var force = false

  @OptionGroup(title: "Configuration")
  var configFile: ConfigurationOptions

  @Flag(name: .shortAndLong, help: "Print errors only.")
  var quiet = false

  func run() async throws {
    let console = Console(isQuiet: quiet)
    do throws(ComposerFailure) {
      let options = try RemuxOptions(input: file, output: output, sound: audio, overwrites: force)
      let report = try Remux(options).run()
      for note in report.notes { console.say(note) }
      console.result(report.description)
    } catch {
      console.report(error.description)
      throw error.status.exitCode
    }
  }
}
