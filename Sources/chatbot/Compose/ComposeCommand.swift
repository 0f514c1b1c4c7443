import ArgumentParser
import Composer
import Composition
import Console

/// Composes the recordings of a call into one file.
struct ComposeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compose",
    abstract: "Compose the recordings of a call into one file with everybody in it.",
    discussion: """
      chatbot compose out/ -o meeting.mp4
      chatbot compose out/ -o meeting.mp4 --layout speaker --size 1920x1080 --chapters
      chatbot compose out/ --call 2 --from 5m --to 45m --exclude recorder --names off -o part.webm

      The ending of the output is its container: .mp4, .webm, .mkv, or .m4a and .ogg for audio alone. Killed at any \
      moment, the same command continues after the last finished part.
      """)

  @Argument(
    help: ArgumentHelp("Folders of recordings, or a recording's .json.", valueName: "file"), completion: .file())
  var files: [String]

  @Option(name: .shortAndLong, help: ArgumentHelp("The file to write.", valueName: "file"), completion: .file())
  var output: String

  @OptionGroup(title: "Calls") var calls: Calls
  @OptionGroup(title: "Picture") var picture: Picture
  @OptionGroup(title: "Sound and text") var text: Text

  @Flag(help: "Overwrite the output, and begin again where inputs or options are others than before.")
  var force = false

  @Flag(help: "Print who is shown when and where, and compose nothing.")
  var dryRun = false

  @Option(
    help: ArgumentHelp("Write into this file, as JSON, what was planned and what happened.", valueName: "file"),
    completion: .file())
  var report: String?

  @OptionGroup(title: "Configuration") var configFile: ConfigurationOptions

  @Flag(name: .shortAndLong, help: "Print errors only; no status line.")
  var quiet = false

  /// Which recordings.
  struct Calls: ParsableArguments {
    @Option(
      parsing: .unconditional, help: ArgumentHelp("Compose the call with this number.", valueName: "number"))
    var call: Int?

    @Flag(help: "Compose each call into a file of its own: meeting-1.mp4, meeting-2.mp4.")
    var all = false

    @Flag(help: "Compose recordings that are not finished up to their present end.")
    var partial = false

    @Option(
      parsing: .unconditional,
      help: ArgumentHelp("Begin at this time of the call: 90s, 5m.", valueName: "time"))
    var from: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("End at this time of the call.", valueName: "time"))
    var to: String?

    @Option(help: ArgumentHelp("Leave out the user with this name or id. Can be repeated.", valueName: "name"))
    var exclude: [String] = []
  }

  /// What is seen.
  struct Picture: ParsableArguments {
    @Option(
      help: ArgumentHelp(
        "The layout: grid, speaker, presenter:NAME, row, only:NAME, or a JSON file. (default: grid)",
        valueName: "layout"))
    var layout: String?

    @Option(help: ArgumentHelp("The size of the output. (default: 1280x720)", valueName: "WxH"))
    var size: String?

    @Option(help: ArgumentHelp("The frame rate: 25, 29.97, 60. (default: 30)", valueName: "number"))
    var fps: String?

    @Option(
      parsing: .unconditional,
      help: ArgumentHelp("The quality of the picture, 1 to 10. (default: 6)", valueName: "number"))
    var quality: Int?

    @Option(help: ArgumentHelp("The maximum bitrate of the video: 4M, 800k.", valueName: "bitrate"))
    var maxBitrate: String?

    @Option(help: ArgumentHelp("h264, vp9, vp8 or av1, where the container has it.", valueName: "codec"))
    var videoCodec: String?

    @Option(
      help: ArgumentHelp("Fit frames with bars (contain) or crop them (cover).", valueName: "contain|cover"))
    var fit: String?
  }

  /// What is heard and read.
  struct Text: ParsableArguments {
    @Option(help: ArgumentHelp("aac or opus, where the container has it.", valueName: "codec"))
    var audioCodec: String?

    @Flag(help: "Bring the speech of each user to -20 LUFS.")
    var level = false

    @Option(help: ArgumentHelp("Draw names. (default: on)", valueName: "on|off"))
    var names: String?

    @Option(
      help: ArgumentHelp("Draw this name for the user with this id or name. Can be repeated.", valueName: "id=name"))
    var rename: [String] = []

    @Flag(help: "Draw the time of day.")
    var clock = false

    @Flag(inversion: .prefixedNo, help: "Add the chat as subtitles, or leave it out.")
    var chat = true

    @Flag(help: "Add a chapter for each user who joins or leaves.")
    var chapters = false
  }

  func run() async throws {
    let console = Console(isQuiet: quiet)
    try await UsageErrors.reported(for: Self.self, on: console) {
      let composing = Composing(options: try Composing.options(arguments), console: console)
      if dryRun { return try composing.printPlan() }
      do {
        try await composing.run()
      } catch let interruption as CompositionInterruption {
        console.report("\(interruption)")
        throw ExitCode(Interruption.exitCode(of: interruption.signal))
      }
    }
  }

  private var arguments: CompositionArguments {
    var arguments = CompositionArguments(inputs: files, output: output)
    (arguments.call, arguments.all, arguments.partial) = (calls.call, calls.all, calls.partial)
    (arguments.from, arguments.to, arguments.exclude) = (calls.from, calls.to, calls.exclude)
    (arguments.layout, arguments.size, arguments.fps) = (picture.layout, picture.size, picture.fps)
    (arguments.quality, arguments.maximumBitrate) = (picture.quality, picture.maxBitrate)
    (arguments.videoCodec, arguments.audioCodec) = (picture.videoCodec, text.audioCodec)
    (arguments.fit, arguments.names, arguments.rename) = (picture.fit, text.names, text.rename)
    (arguments.clock, arguments.chat, arguments.chapters) = (text.clock, text.chat, text.chapters)
    (arguments.level, arguments.force, arguments.report) = (text.level, force, report)
    return arguments
  }
}
