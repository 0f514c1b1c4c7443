internal import Glibc

/// The commands that a runner of GitHub Actions reads in the output of a step, such as `::error::x` and `##[error]x`.
package enum WorkflowCommands {
  /// Whether this process runs in a job of GitHub Actions.
  package static var areRead: Bool { getenv("GITHUB_ACTIONS").map { String(cString: $0) } == "true" }

  /// Returns lines of output in which a runner finds no command: names from the network may contain one. A runner reads a command at
  /// the beginning of a line, after spaces, and one in the older form anywhere in it.
  package static func removed(from text: String) -> String {
    var result = String.UnicodeScalarView()
    var isAtBeginning = true
    // Scalars are compared, as a runner does: a combining mark may follow a colon.
    let scalars = Array(text.unicodeScalars)
    var index = 0
    while index < scalars.count {
      let scalar = scalars[index]
      result.append(scalar)
      index += 1
      if scalar == "\n" || scalar == "\r" {
        isAtBeginning = true
        continue
      }
      if isAtBeginning, scalar == ":", index < scalars.count, scalars[index] == ":" {
        result.append(" ")
      } else if scalar == "#", index + 1 < scalars.count, scalars[index] == "#", scalars[index + 1] == "[" {
        result.append(" ")
      }
      if !scalar.properties.isWhitespace { isAtBeginning = false }
    }
    return String(result)
  }
}
