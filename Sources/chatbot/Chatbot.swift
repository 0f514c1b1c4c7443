import ArgumentParser

/// The command line's root; without a subcommand it takes part in a call.
@main
struct Chatbot: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "chatbot",
    abstract:
      "A WebRTC participant without a person: records calls, stands in for a camera, and says whether a call works.",
    discussion: """
      chatbot --room 100 --record out/          record every user of room 100
      chatbot --play samples/test.webm          be a camera in the default room
      chatbot load --room 100 --publishers 50 --play samples/test.webm
                                                fill a room with publishers
      chatbot check --room 100 --html report.html
                                                say whether the call of room 100 works
      chatbot inspect out/                      judge recordings in the same way
      chatbot repair out/                       mend what a crash left unfinished
      chatbot serve                             run a room server with its web page

      \(ExitCodes.table)
      """,
    version: Version.text,
    subcommands: [
      CallCommand.self, CheckCommand.self, InspectCommand.self, LoadCommand.self, RepairCommand.self, ServeCommand.self,
    ],
    defaultSubcommand: CallCommand.self)
}

/// Which program this is, for `--version`.
enum Version {
  /// After semver.org; the changelog tells what it holds.
  static let text = "0.1.0"
}
