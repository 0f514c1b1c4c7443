import ArgumentParser
import CommandSettings

extension OptionOverview {
  /// The options of the default command, for the help of the program.
  static let ofCall: String = {
    guard let root = try? CommandDescription(dump: CallCommand._dumpHelp()) else { return "" }
    return OptionOverview(root).text(otherHeading: "Call")
  }()
}
