import CallCheck
import CallReport

/// A verdict on a terminal.
extension Console {
  /// Prints a verdict as a table, as wide as the terminal: on standard output, or, where that is taken by a report, on standard
  /// error. When it is to be quiet, it is printed only on standard output, and only if something went wrong.
  func verdict(_ report: CheckReport, outputs: CheckOutputs) {
    let isAside = outputs.takesStandardOutput
    if isQuiet, isAside || report.verdict == .held { return }
    let columns = isAside ? errorColumns : outputColumns
    var table = report.table(width: columns ?? 100, isUnicode: Terminal.isUnicode, isColoured: columns != nil)
    while table.last == "\n" { table.removeLast() }
    if isAside { write(styled: table) } else { result(styled: table, isWanted: true) }
  }
}
