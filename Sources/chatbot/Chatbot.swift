import ArgumentParser

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
                                                check whether the call of room 100 works
      chatbot inspect out/                      check recordings by the same rules
      chatbot diagnose --ice-server stun:stun.example
                                                measure what this machine can reach
      chatbot repair out/                       complete recordings after a crash
      chatbot serve                             run a room server with its call page

      \(ExitStatus.table)
      """,
    version: Version.text,
    subcommands: [
      CallCommand.self, CheckCommand.self, DiagnoseCommand.self, InspectCommand.self, LoadCommand.self,
      RepairCommand.self,
      ServeCommand.self, SignallingsCommand.self,
    ],
    defaultSubcommand: CallCommand.self)
}

/// The program's version, for `--version`.
enum Version {
  /// Follows semver.org; the changelog lists its changes.
  static let text = "0.2.0"
}
