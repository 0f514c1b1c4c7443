import ArgumentParser
import CommandSettings

extension OptionOverview {
  /// The options of the default command, for the help of the program. The parser wants it at every start, where making it would take
  /// longer than everything else, so it is empty where the program shows no help.
  static let ofCall: String = {
    let isProgram = CommandLine.arguments.first?.hasSuffix("chatbot") ?? false
    if isProgram, helps.isDisjoint(with: CommandLine.arguments) { return "" }
    guard let root = try? CommandDescription(dump: CallCommand._dumpHelp()) else { return "" }
    return OptionOverview(root).text(otherHeading: "Call")
  }()

  /// The words for which the program shows its help.
  private static let helps: Set<String> = [
    "help", "--help", "-h", "--help-hidden", "--experimental-dump-help", "manual",
  ]
}
