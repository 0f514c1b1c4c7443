/// Why a recording was not copied into another container. The values are sentences.
package enum RemuxFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The command line asks for what makes no sense.
  case usage(String)
  /// The recording is missing, cannot be read, or does not fit into the container.
  case input(String)
  /// The file cannot be written.
  case output(String)
  /// There is no program `chatbot-media`, or it failed.
  case worker(String)

  package var description: String {
    switch self {
    case .usage(let sentence), .input(let sentence), .output(let sentence), .worker(let sentence): sentence
    }
  }
}
