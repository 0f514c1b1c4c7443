internal import Glibc
internal import Media

/// Finds out before a program is needed whether it can be started.
package enum ProgramLookup {
  /// Returns why a program cannot be started, as one sentence; nil if it probably can.
  ///
  /// - Parameter program: a path, or a name that is looked up in `PATH`.
  package static func problem(of program: String) -> String? {
    let name = program.printable(utf8Bytes: 120)
    if program.contains("/") {
      guard access(program, F_OK) == 0 else { return "There is no program \(name)." }
      return isExecutable(program) ? nil : "\(name) is no program that may be executed."
    }
    let path = getenv("PATH").map { String(cString: $0) } ?? "/bin:/usr/bin"
    let isFound = path.split(separator: ":", omittingEmptySubsequences: false).contains { folder in
      isExecutable("\(folder.isEmpty ? "." : folder)/\(program)")
    }
    return isFound ? nil : "There is no program \(name) in PATH."
  }

  private static func isExecutable(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
  }
}
