import ArgumentParser
import CallCheck
import Foundation

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

  /// Prints a verdict as a table, as wide as the terminal: on standard output, or, where that is taken by a report, on standard
  /// error. When it is to be quiet, it is printed only on standard output, and only if something went wrong.
  func verdict(_ report: CheckReport, outputs: CheckOutputs) {
    let isAside = outputs.takesStandardOutput
    if isQuiet, isAside || report.verdict == .held { return }
    let columns = isAside ? errorColumns : outputColumns
    let table = report.table(width: columns ?? 100, isUnicode: Terminal.isUnicode, isColoured: columns != nil)
      .trimmingCharacters(in: .newlines)
    if isAside { write(styled: table) } else { result(styled: table, isWanted: true) }
  }
}
