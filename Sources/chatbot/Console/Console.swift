import Foundation
import Logging
import Synchronization

/// What people read: lines on standard error, with a status line below them on a terminal, and results on standard output.
final class Console: Sendable {
  /// Whether standard error is a terminal that can be rewritten.
  let isTerminal: Bool
  let isQuiet: Bool
  private let showsStatus = Mutex(false)

  init(isQuiet: Bool) {
    self.isQuiet = isQuiet
    isTerminal = Terminal.columns(STDERR_FILENO) != nil
  }

  /// A log line, or a sentence for people.
  func write(line: String) {
    showsStatus.withLock { isShown in
      put((isShown ? Self.eraser : "") + line + "\n", to: .standardError)
      isShown = false
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
  func result(_ line: String) {
    if isQuiet { return }
    clearStatus()
    put(line + "\n", to: .standardOutput)
  }

  /// Puts the status line at the bottom of the terminal; without a terminal nothing is shown.
  func show(_ status: StatusLine) {
    guard !isQuiet, let columns = Terminal.columns(STDERR_FILENO) else { return }
    showsStatus.withLock { isShown in
      put(status.onTerminal(columns: columns), to: .standardError)
      isShown = true
    }
  }

  func clearStatus() {
    showsStatus.withLock { isShown in
      if isShown { put(Self.eraser, to: .standardError) }
      isShown = false
    }
  }

  /// A logger whose lines go where the status line does not suffer.
  func logger(_ label: String, level: Logger.Level) -> Logger {
    var logger = Logger(label: label) { ConsoleLogHandler(label: $0, console: self) }
    logger.logLevel = level
    return logger
  }

  /// Clears the line that the cursor is on.
  private static let eraser = "\r\u{1B}[K"

  private func put(_ text: String, to handle: FileHandle) {
    try? handle.write(contentsOf: Data(text.utf8))
  }
}
