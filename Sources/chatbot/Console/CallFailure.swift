import Signalling

/// An error that ends a command with an exit code other than 0.
struct CallFailure: Error, CustomStringConvertible {
  /// The sentence for the user.
  let sentence: String
  let code: ExitStatus
  /// Whether a server was reached and refused what we wanted.
  var isRefusal = false

  var description: String { sentence }

  init(_ code: ExitStatus, _ sentence: String) {
    self.code = code
    self.sentence = sentence
  }

  /// The failure of joining.
  ///
  /// - Parameter hint: A sentence that follows if the server cannot be reached.
  init(_ error: SignallingConnectError, hint: String? = nil) {
    let code: ExitStatus = if case .invalidConfiguration = error { .usage } else { .serverNotReached }
    var sentence = error.description
    if case .unreachable = error, let hint { sentence += " \(hint)" }
    self.init(code, sentence)
    if case .unreachable = error { isRefusal = false } else { isRefusal = code == .serverNotReached }
  }
}
