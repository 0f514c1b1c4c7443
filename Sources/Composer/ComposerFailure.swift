/// Why a composition was not made. The values are sentences.
package enum ComposerFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The command line asks for what makes no sense: exit code 64.
  case usage(String)
  /// The recordings cannot be composed: exit code 66.
  case input(String)
  /// The output cannot be written: exit code 73.
  case output(String)
  /// There is no program `chatbot-media`, or it failed: exit code 70.
  case worker(String)

  package var description: String {
    switch self {
    case .usage(let sentence), .input(let sentence), .output(let sentence), .worker(let sentence): sentence
    }
  }
}
