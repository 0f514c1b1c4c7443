/// Why a call ends with another exit code than 0.
struct CallFailure: Error {
  /// What the user reads.
  let sentence: String
  let code: ExitCodes

  init(_ code: ExitCodes, _ sentence: String) {
    self.code = code
    self.sentence = sentence
  }
}
