import ArgumentParser
import Call
import Console
import ExecSignalling
import OptionValues
import Processes

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
      "Exit with code 65 unless so many users, or the user with this id or name, were recorded; id:2 and name:2 are never a number. Can be repeated.",
      valueName: "number|name"),
    transform: SessionRequirement.parse)
  var require: [SessionRequirement] = []

  @Option(
    help: ArgumentHelp(
      "Run this program, with the path of the manifest as its last argument, for each finished recording. Arguments are separated by spaces; there is no shell.",
      valueName: "command"))
  var onFinish: String?

  @Option(
    help: ArgumentHelp("Run this program for each finished file of a recording with --segment.", valueName: "command"))
  var onSegment: String?

  /// The file name that means standard output.
  static let standardOutput = "-"

  /// Checks that the summary can be written, before the call is joined.
  func checkFiles() throws(CallFailure) {
    guard let summary, summary != Self.standardOutput else { return }
    do throws(OutputError) {
      try DocumentFile.check(summary)
    } catch {
      throw CallFailure(.disk, DocumentFile.sentence(error, writing: summary))
    }
  }

  /// The programs to run.
  func programs() throws(CallFailure) -> RoomCall.Settings.Programs {
    var programs = RoomCall.Settings.Programs()
    programs.onFinish = try Self.words(of: onFinish, option: "--on-finish")
    programs.onSegment = try Self.words(of: onSegment, option: "--on-segment")
    return programs
  }

  private static func words(of text: String?, option: String) throws(CallFailure) -> [String]? {
    guard let text else { return nil }
    let words: [String]
    do throws(ExecCommand.ParseError) {
      words = try ExecCommand(text).words
    } catch {
      let reason =
        switch error {
        case .noProgram: "needs a program, such as \(option) 'python3 upload.py'"
        case .unclosedQuote(let quote): "has a quote \(quote) that is not closed"
        case .trailingBackslash: "ends with a backslash, which must stand before a character"
        case .zeroCharacter: "has a character with the number 0"
        }
      throw CallFailure(.usage, "\(option) \(reason).")
    }
    if let program = words.first, let problem = ProgramLookup.problem(of: program) {
      throw CallFailure(.usage, "\(option): \(problem)")
    }
    return words
  }

  func validate(isRecording: Bool, hasSegments: Bool) throws {
    if !isRecording, !require.isEmpty { throw ValidationError("--require needs --record.") }
    if !isRecording, onFinish != nil { throw ValidationError("--on-finish needs --record.") }
    if !hasSegments, onSegment != nil { throw ValidationError("--on-segment needs --segment.") }
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
