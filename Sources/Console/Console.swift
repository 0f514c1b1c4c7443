internal import Glibc
package import Logging
internal import Media
internal import Synchronization

/// Output for people: lines on standard error, with a status line or table below them on a terminal, and results on
/// standard output.
///
/// In a job of GitHub Actions, names from the network contain no commands for its runner: see ``WorkflowCommands``.
package final class Console: Sendable {
  /// Whether standard error is a terminal that can be rewritten.
  package let isTerminal: Bool
  package let isQuiet: Bool
  /// Whether a runner of GitHub Actions reads the output.
  package let isInWorkflow: Bool
  private let color: ColorChoice
  private let format: LogFormat
  /// Where log lines go instead of standard error; nil for none.
  private let logFile: LogFile?
  /// Shared by all loggers.
  let logAllowance = EventLogLimiter()
  private let output: Int32
  private let errors: ErrorOutput
  /// Why a result could not be written to standard output, as a clause.
  private let outputFailure = Mutex<String?>(nil)
  /// What is at the bottom of the terminal, and how it is drawn again.
  private struct Shown {
    var block = TerminalBlock()
    var redraw: (@Sendable (_ columns: Int) -> [String]?)?
  }

  private let shown = Mutex(Shown())

  /// - Parameters:
  ///   - color: When colours are used.
  ///   - format: How log lines, sentences and errors are written.
  ///   - logFile: Where log lines go instead of standard error.
  ///   - isInWorkflow: Whether a runner of GitHub Actions reads the output.
  ///   - output: The file descriptor for results; standard output.
  ///   - errors: The file descriptor for everything else; standard error.
  package init(
    isQuiet: Bool, color: ColorChoice = .auto, format: LogFormat = .text, logFile: LogFile? = nil,
    isInWorkflow: Bool = WorkflowCommands.areRead, output: Int32 = 1, errors: Int32 = 2
  ) {
    self.isQuiet = isQuiet
    self.color = color
    self.format = format
    self.logFile = logFile
    self.isInWorkflow = isInWorkflow
    self.output = output
    self.errors = ErrorOutput(descriptor: errors)
    isTerminal = Terminal.columns(errors) != nil
  }

  /// The widths of standard output and standard error; nil for one that is not a terminal.
  package var outputColumns: Int? { Terminal.columns(output) }
  package var errorColumns: Int? { Terminal.columns(errors.descriptor) }

  /// Whether results, and what is written to standard error, have colours.
  package var outputIsColoured: Bool { isColoured(Terminal.columns(output) != nil) }
  package var errorsAreColoured: Bool { isColoured(isTerminal) }

  private func isColoured(_ isTerminal: Bool) -> Bool {
    color.isColoured(isTerminal: isTerminal, noColor: getenv("NO_COLOR").map { String(cString: $0) })
  }

  /// Writes an event of a log: to the log file, or to standard error.
  func write(_ record: LogRecord) {
    if let logFile { return logFile.write(record) }
    switch format {
    case .text: write(styled: record.text(isDated: !isTerminal, isColoured: errorsAreColoured))
    case .json: write(styled: record.json)
    }
  }

  /// Writes a sentence to standard error, as a line of the log if that is for programs.
  private func write(sentence: String, level: String, timeout: Duration = ErrorOutput.defaultTimeout) {
    let records = sentence.split(separator: "\n").map { LogRecord(level: level, message: String($0)) }
    if level == "error" { for record in records { logFile?.write(record) } }
    let isForPrograms = format == .json && !isTerminal
    let shown = level == "error" ? "chatbot: \(sentence)" : sentence
    write(styled: isForPrograms ? records.map(\.json).joined(separator: "\n") : Self.escaped(shown), timeout: timeout)
  }

  /// Waits until the log file is written.
  package func close() { logFile?.close() }

  /// Writes a log line or a sentence. Characters that could move the cursor are escaped.
  package func write(line: String) {
    write(styled: Self.escaped(line))
  }

  /// Writes text with colours, which must already be escaped.
  package func write(styled line: String) {
    write(styled: line, timeout: ErrorOutput.defaultTimeout)
  }

  private func write(styled line: String, timeout: Duration) {
    write(errors: withoutCommands(line), timeout: timeout)
  }

  private func write(errors lines: String, timeout: Duration = ErrorOutput.defaultTimeout) {
    shown.withLock { shown in
      let eraser = shown.block.isEmpty ? "" : shown.block.erase(columns: errorColumns)
      errors.write(eraser + lines + "\n", timeout: timeout)
    }
  }

  /// Returns what may be written where a runner could find commands in it.
  private func withoutCommands(_ text: String) -> String {
    isInWorkflow ? WorkflowCommands.removed(from: text) : text
  }

  /// Escapes text that may contain terminal control sequences, such as a name from the network.
  private static func escaped(_ text: String) -> String { text.printable(utf8Bytes: .max, keeping: ["\n", "\t"]) }

  /// Prints a sentence unless `--quiet` was given.
  package func say(_ sentence: String) {
    if !isQuiet { write(sentence: sentence, level: "notice") }
  }

  /// Prints an error, also with `--quiet`.
  package func report(_ sentence: String) {
    write(sentence: sentence, level: "error", timeout: .seconds(1))
  }

  /// Prints a result, for people and programs alike.
  ///
  /// - Parameter isWanted: Whether an option requested this result, so that it is printed even with `--quiet`.
  package func result(_ line: String, isWanted: Bool = false) {
    result(styled: Self.escaped(line), isWanted: isWanted)
  }

  /// Prints a result with colours, which must already be escaped.
  package func result(styled line: String, isWanted: Bool = false) {
    if isQuiet && !isWanted { return }
    write(result: withoutCommands(line))
  }

  private func write(result line: String) {
    clearStatus()
    let failure = Self.write(line + "\n", to: output)
    // A reader that has closed the pipe has read what it wanted.
    if failure == 0 || failure == EPIPE { return }
    outputFailure.withLock { $0 = $0 ?? String(cString: strerror(failure)) }
  }

  /// Prints workflow commands of our own; nothing outside of a job of GitHub Actions.
  ///
  /// - Parameters:
  ///   - lines: One command each, with its values escaped.
  ///   - onStandardError: Whether they go to standard error, because standard output has a document.
  package func annotate(_ lines: [String], onStandardError: Bool) {
    guard isInWorkflow, !lines.isEmpty else { return }
    let text = lines.joined(separator: "\n")
    if onStandardError { write(errors: text) } else { write(result: text) }
  }

  /// Writes the whole text, and returns the error number if that failed, or zero.
  private static func write(_ text: String, to descriptor: Int32) -> Int32 {
    var left = Array(text.utf8)[...]
    while !left.isEmpty {
      let count = left.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        left = left.dropFirst(count)
      } else if errno == EAGAIN {
        usleep(1_000)
      } else if errno != EINTR {
        return errno
      }
    }
    return 0
  }

  /// Throws if a result could not be written completely.
  package func checkOutput() throws(OutputError) {
    if let reason = outputFailure.withLock(\.self) { throw OutputError(description: reason) }
  }

  /// Writes a document that an option requested; standard output contains it unchanged and nothing else.
  package func document(_ text: String) throws(OutputError) {
    clearStatus()
    let failure = Self.write(text, to: output)
    if failure != 0 { throw OutputError(number: failure) }
  }

  /// Shows the status line at the bottom of the terminal; without a terminal it shows nothing.
  ///
  /// - Parameter isWanted: Asked when nothing else can be written any more before the line.
  /// - Returns: The number of users that are shown.
  @discardableResult
  package func show(_ status: StatusLine, if isWanted: @escaping @Sendable () -> Bool = { true }) -> Int {
    guard !isQuiet, isTerminal, let columns = errorColumns else { return 0 }
    return shown.withLock { shown in
      guard isWanted() else { return 0 }
      shown.redraw = { columns in isWanted() ? [status.text(columns: columns - 1)] : nil }
      let layout = status.layout(columns: columns - 1)
      errors.write(shown.block.show([layout.text], columns: columns))
      return layout.shownUsers
    }
  }

  /// Shows a table at the bottom of the terminal and replaces the previous one; without a terminal it shows nothing.
  ///
  /// - Parameter lines: Text lines; control characters are escaped, and lines that are too long are cut.
  package func show(lines: [String]) {
    guard !isQuiet, isTerminal, let columns = errorColumns else { return }
    let lines = lines.map { $0.printable(utf8Bytes: .max) }
    shown.withLock { shown in
      shown.redraw = { _ in lines }
      errors.write(shown.block.show(lines, columns: columns))
    }
  }

  package func clearStatus() {
    shown.withLock { shown in
      if !shown.block.isEmpty { errors.write(shown.block.erase(columns: errorColumns)) }
      shown.redraw = nil
    }
  }

  /// Draws the lines at the bottom again, after the size of the terminal has changed.
  package func redraw() {
    guard let columns = errorColumns else { return }
    shown.withLock { shown in
      guard !shown.block.isEmpty else { return }
      let lines = shown.redraw?(columns)
      errors.write(lines.map { shown.block.show($0, columns: columns) } ?? shown.block.erase(columns: columns))
    }
  }

  /// Returns a logger that does not disturb the status line.
  package func logger(_ label: String, level: Logger.Level) -> Logger {
    var logger = Logger(label: label) { ConsoleLogHandler(label: $0, console: self) }
    logger.logLevel = level
    return logger
  }
}

/// Why standard output could not be written, as a clause.
package struct OutputError: Error, Sendable, Hashable, CustomStringConvertible {
  package let description: String

  /// - Parameter number: the system's error number.
  init(number: Int32) {
    description = strerror(number).map { String(cString: $0) } ?? "error \(number)"
  }

  init(description: String) {
    self.description = description
  }
}

/// Properties of the terminal.
package enum Terminal {
  /// The width of the terminal behind a descriptor, or nil if it is not a terminal, to which only plain lines may be
  /// written.
  package static func columns(_ descriptor: Int32) -> Int? {
    guard isatty(descriptor) == 1 else { return nil }
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  /// Whether the terminal shows UTF-8: the locale decides (POSIX, Base Definitions 8.2); true if it says nothing.
  package static var isUnicode: Bool {
    for name in ["LC_ALL", "LC_CTYPE", "LANG"] {
      guard let value = getenv(name).map({ String(cString: $0) }), !value.isEmpty else { continue }
      let upper = value.uppercased()
      return upper.contains("UTF-8") || upper.contains("UTF8")
    }
    return true
  }
}
