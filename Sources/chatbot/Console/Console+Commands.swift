import ArgumentParser
import Console

/// Running a command.
extension Console {
  /// Runs a command's work, and turns errors into a sentence and an exit code.
  func carryOut(_ work: () async throws -> Void) async throws {
    defer { close() }
    do {
      try await work()
      try checkOutput()
    } catch let failure as CallFailure {
      report(failure.sentence)
      throw failure.code.exitCode
    } catch let error as OutputError {
      report("Standard output cannot be written: \(error).")
      throw ExitStatus.disk.exitCode
    } catch let error as ExitCode {
      throw error
    } catch let error as ValidationError {
      throw error
    } catch {
      report("\(error)")
      throw ExitStatus.unexpected.exitCode
    }
  }
}
