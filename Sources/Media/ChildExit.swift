/// How a child process ended. Pure.
package enum ChildExit: Sendable, Hashable, CustomStringConvertible {
  case code(Int)
  case signal(Int)
  case unknown

  /// - Parameter result: what `cprocesses_reap` returns.
  package init(result: Int32) {
    self = result < 0 ? .signal(-Int(result)) : result < 256 ? .code(Int(result)) : .unknown
  }

  /// A clause such as `ended with exit code 1`.
  package var description: String {
    switch self {
    case .code(let code): "ended with exit code \(code)"
    case .signal(let number):
      "was ended by signal \(number)\(Self.names[number].map { " (\($0))" } ?? "")"
    case .unknown: "ended"
    }
  }

  private static let names = [
    1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL",
    11: "SIGSEGV", 13: "SIGPIPE", 15: "SIGTERM", 24: "SIGXCPU", 31: "SIGSYS",
  ]

  /// The sentence for people.
  ///
  /// - Parameters:
  ///   - program: the program's name.
  ///   - lastLine: the last line of its standard error, in printable form.
  package func sentence(of program: String, lastLine: String?) -> String {
    guard let lastLine else { return "\(program.printable(utf8Bytes: 60)) \(self)." }
    return "\(program.printable(utf8Bytes: 60)) \(self); the last line of its standard error was \"\(lastLine)\"."
  }
}
