import ArgumentParser
import Call

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

  @Option(
    help: ArgumentHelp(
      "Exit with code 65 unless so many users, or the user with this id or name, were recorded. Can be repeated.",
      valueName: "number|name"),
    transform: SessionRequirement.parse)
  var require: [SessionRequirement] = []

  /// The file name that means standard output.
  static let standardOutput = "-"

  func validate(isRecording: Bool) throws {
    if !isRecording, !require.isEmpty { throw ValidationError("--require needs --record.") }
    if summary?.isEmpty == true { throw ValidationError("--summary needs the name of a file.") }
  }
}

extension SessionRequirement {
  /// For `transform:`, whose errors ArgumentParser prints as they are.
  @Sendable static func parse(_ text: String) throws -> SessionRequirement {
    guard let requirement = SessionRequirement(text) else {
      throw ValidationError("--require needs a number of users, or the id or name of one.")
    }
    return requirement
  }
}
