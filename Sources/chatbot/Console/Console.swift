import Foundation
import Logging
import Synchronization

/// What people read: lines on standard error, with a status line or table below them on a terminal, and results on standard output.
final class Console: Sendable {
  /// Whether standard error is a terminal that can be rewritten.
  let isTerminal: Bool
  let isQuiet: Bool
  /// Lines of the status that is shown now.
  private let shownLines = Mutex(0)

  init(isQuiet: Bool) {
    self.isQuiet = isQuiet
    isTerminal = Terminal.columns(STDERR_FILENO) != nil
  }

  /// A log line, or a sentence for people.
  func write(line: String) {
    shownLines.withLock { shown in
      put(Self.eraser(of: shown) + line + "\n", to: .standardError)
      shown = 0
    }
  }

  /// Something that everyone should know, unless they asked for quiet.
  func say(_ sentence: String) {
    if !isQuiet { write(line: sentence) }
  }

  /// What went wrong; not to be silenced.
  func report(_ sentence: String) {
    write(line: "chatbot: \(sentence)")
  }

  /// A result, for people and programs alike.
  ///
  /// - Parameter isWanted: whether it was asked for by name, so that quiet does not mean it.
  func result(_ line: String, isWanted: Bool = false) {
    if isQuiet && !isWanted { return }
    clearStatus()
    put(line + "\n", to: .standardOutput)
  }

  /// Puts the status line at the bottom of the terminal; without a terminal nothing is shown.
  func show(_ status: StatusLine) {
    guard !isQuiet, let columns = Terminal.columns(STDERR_FILENO) else { return }
    shownLines.withLock { shown in
      put((shown > 1 ? Self.eraser(of: shown) : "") + status.onTerminal(columns: columns), to: .standardError)
      shown = 1
    }
  }

  /// Puts a table at the bottom of the terminal, in the place of the one before it; without a terminal nothing is shown.
  ///
  /// - Parameter lines: without control characters; those that are too long are cut.
  func show(lines: [String]) {
    guard !isQuiet, let columns = Terminal.columns(STDERR_FILENO) else { return }
    shownLines.withLock { shown in
      let text = lines.map { StatusLine.cut($0, to: columns - 1) }.joined(separator: "\n")
      put(Self.eraser(of: shown) + text, to: .standardError)
      shown = lines.count
    }
  }

  func clearStatus() {
    shownLines.withLock { shown in
      put(Self.eraser(of: shown), to: .standardError)
      shown = 0
    }
  }

  /// A logger whose lines go where the status line does not suffer.
  func logger(_ label: String, level: Logger.Level) -> Logger {
    var logger = Logger(label: label) { ConsoleLogHandler(label: $0, console: self) }
    logger.logLevel = level
    return logger
  }

  /// Clears the line that the cursor is on and those above it, as many as are shown.
  private static func eraser(of lines: Int) -> String {
    guard lines > 0 else { return "" }
    return "\r" + (lines > 1 ? "\u{1B}[\(lines - 1)A" : "") + "\u{1B}[J"
  }

  private func put(_ text: String, to handle: FileHandle) {
    try? handle.write(contentsOf: Data(text.utf8))
  }
}
