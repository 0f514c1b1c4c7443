import ArgumentParser

/// The options for when a call ends, and what is said of it then.
struct EndingOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Leave when everybody else has left, and nobody came for this time: 30s, 5m.", valueName: "time"),
    transform: TimeSpan.parse)
  var leaveWhenEmpty: TimeSpan?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Leave if nobody came in this time since joining: 30s, 5m.", valueName: "time"),
    transform: TimeSpan.parse)
  var leaveIfNobody: TimeSpan?

  @Option(
    help: ArgumentHelp(
      "Write into this file, as JSON, why the call ended, who was there, and who was recorded; - is standard output.",
      valueName: "file"),
    completion: .file())
  var summary: String?

  /// The file name that means standard output.
  static let standardOutput = "-"

  func validate() throws {
    if summary?.isEmpty == true { throw ValidationError("--summary needs the name of a file.") }
  }
}
