import ArgumentParser
import CommandSettings
import Console

/// The root of the command line; without a subcommand it joins a call.
@main
struct Chatbot: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "chatbot",
    abstract:
      "A headless WebRTC participant: records calls, acts as a camera, and checks whether a call works.",
    discussion: """
      chatbot --room 100 --record out/          record every user of room 100
      chatbot --play samples/test.webm          be a camera in the default room
      chatbot load --room 100 --publishers 50 --play samples/test.webm
                                                fill a room with publishers
      chatbot check --room 100 --html report.html
                                                check whether the call works
      chatbot inspect out/                      check recordings by the same rules
      chatbot diagnose --ice-server stun:stun.example
                                                measure what this machine can reach
      chatbot compose out/ -o meeting.mp4       one file of a whole call
      chatbot repair out/                       complete recordings after a crash
      chatbot serve                             run a room server with its call page

      OPTIONS OF A CALL, which “chatbot help call” explains:
      \(OptionOverview.ofCall)

      \(ExitStatus.table)
      """,
    version: ProgramVersion.text,
    subcommands: [
      CallCommand.self, CheckCommand.self, ComposeCommand.self, ConfigCommand.self, DiagnoseCommand.self,
      InspectCommand.self, JobCommand.self, LoadCommand.self, ManualCommand.self, RemuxCommand.self,
      RepairCommand.self, ServeCommand.self, SignallingsCommand.self,
    ],
    defaultSubcommand: CallCommand.self)

  /// Reads the configuration, parses the arguments and runs the command.
  static func main() async {
    let arguments = Array(CommandLine.arguments.dropFirst())
    let console = Console(isQuiet: false)
    /// The values of options from all sources. It costs ten times what the parser costs, so it is only read where it is needed.
    func settings() -> (program: CommandSettings.Program, values: CommandSettings) {
      do {
        let program = try CommandLineSettings.program()
        return (program, try CommandLineSettings.read(arguments, of: program))
      } catch {
        console.report("\(error)")
        exit(withError: ExitStatus.usage.exitCode)
      }
    }
    let known = CommandLineSettings.areSet(beside: arguments) ? settings() : nil
    for warning in known?.values.warnings ?? [] { console.report(warning) }
    var command: any ParsableCommand
    do {
      command = try parseAsRoot(known?.values.arguments ?? arguments)
    } catch {
      guard exitCode(for: error) == .validationFailure else { exit(withError: error) }
      let (program, values) = known ?? settings()
      guard let text = UsageErrors.text(error, settings: values, arguments: arguments, of: program.root) else {
        exit(withError: error)
      }
      console.write(line: text)
      exit(withError: ExitStatus.usage.exitCode)
    }
    do {
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch {
      exit(withError: error)
    }
  }

  /// The subcommand of a name, or the default.
  static func command(named name: String) -> any ParsableCommand.Type {
    configuration.subcommands.first { $0.configuration.commandName == name } ?? CallCommand.self
  }
}
