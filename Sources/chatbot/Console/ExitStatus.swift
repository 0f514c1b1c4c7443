import ArgumentParser

/// An exit code of chatbot. The numbers are those of sysexits.h where one fits, and 1 for a failed verdict, as other
/// checkers use.
enum ExitStatus: Int32, CaseIterable, Sendable {
  /// Success. Also after SIGINT, SIGTERM or the end of `--duration`, if every file was finished.
  case success = 0
  /// `check`, `inspect`, `load`: a rule failed or could not be measured.
  case ruleFailed = 1
  /// `check`: no rule failed, but some could not be judged, because this machine could not keep up.
  case inconclusive = 2
  /// The command line is invalid (EX_USAGE). The argument parser uses the same code.
  case usage = 64
  /// `--record` was given, and nothing was recorded, or less than `--require` asks for (EX_DATAERR).
  case nothingRecorded = 65
  /// The file to play is missing or cannot be played (EX_NOINPUT); found before joining.
  case fileNotPlayable = 66
  /// No server listens at the address of `--server`, or it does not speak SkyRTC, or it refused the join or what we are to
  /// publish; or `serve` could not start (EX_UNAVAILABLE).
  case serverNotReached = 69
  /// Internal error (EX_SOFTWARE).
  case unexpected = 70
  /// The processor had no time, or the memory for queued frames was too small, to record everything that arrived
  /// (EX_OSERR).
  case overloaded = 71
  /// A recording could not be written completely: no folder, no permission or no space (EX_CANTCREAT).
  case disk = 73
  /// `--store`: something is not in the store (EX_IOERR). The recording is whole in its folder.
  case notStored = 74
  /// `load`: at the end some publishers or viewers had never been connected to anyone; `diagnose`: no call beyond this network is
  /// possible (EX_TEMPFAIL).
  case notConnected = 75

  /// The value to throw from a command's `run`.
  var exitCode: ExitCode { ExitCode(rawValue) }

  /// One line for the help text and the README.
  var meaning: String {
    switch self {
    case .success: "success"
    case .ruleFailed: "check, inspect, load: a rule failed or could not be measured"
    case .inconclusive: "check: this machine could not keep up, and no rule that could be judged failed"
    case .usage: "the command line is invalid"
    case .nothingRecorded: "call: nothing was recorded, or less than --require asks for"
    case .fileNotPlayable: "the file cannot be played or inspected, or repair left a file unchanged"
    case .serverNotReached: "the server was not reached, or refused the join or what we publish, or could not listen"
    case .unexpected: "internal error"
    case .overloaded: "call: the processor or the memory for queued frames did not suffice to record everything"
    case .disk: "disk: a recording or a report could not be written, or a file could not be repaired"
    case .notStored: "call --store: the store refused the recording, or a part of it is not there"
    case .notConnected:
      "load: not everyone was connected to someone; diagnose: no call beyond this network is possible"
    }
  }

  /// The table for the help text.
  static var table: String {
    "EXIT CODES:\n"
      + allCases.map { "  \($0.rawValue)\($0.rawValue < 10 ? " " : "")  \($0.meaning)" }.joined(separator: "\n")
      + "\n  128 + n  signal n arrived a second time, or before the room was joined"
  }
}
