import ArgumentParser

/// What commands have in common.
extension Console {
  /// Does a command's work; what goes wrong becomes a sentence and an exit code.
  func carryOut(_ work: () async throws -> Void) async throws {
    do {
      try await work()
      try checkOutput()
    } catch let failure as CallFailure {
      report(failure.sentence)
      throw failure.code.exitCode
    } catch let error as ExitCode {
      throw error
    } catch let error as ValidationError {
      throw error
    } catch {
      report("\(error)")
      throw ExitCodes.unexpected.exitCode
    }
  }
}
