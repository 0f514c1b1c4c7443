import ArgumentParser
import CallCheck
import Foundation

/// What commands have in common.
extension Console {
  /// Does a command's work; what goes wrong becomes a sentence and an exit code.
  func carryOut(_ work: () async throws -> Void) async throws {
    do {
      try await work()
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

  /// Prints a verdict as a table, as wide as the terminal.
  func verdict(_ report: CheckReport) {
    let columns = Terminal.columns(STDOUT_FILENO)
    let table = report.table(width: columns ?? 100, isUnicode: Terminal.isUnicode, isColoured: columns != nil)
    result(table.trimmingCharacters(in: .newlines), isWanted: true)
  }
}
