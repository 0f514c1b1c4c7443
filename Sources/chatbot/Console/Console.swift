import Glibc
import Logging
import SkyRTC
import Synchronization

/// What people read: lines on standard error, with a status line or table below them on a terminal, and results on standard output.
final class Console: Sendable {
  /// Whether standard error is a terminal that can be rewritten.
  let isTerminal: Bool
  let isQuiet: Bool
  /// Of all loggers together.
  let logAllowance = EventLogLimiter()
  private let output: Int32
  private let errors: ErrorOutput
  /// Why a result did not reach standard output, as a clause.
  private let outputFailure = Mutex<String?>(nil)
  /// Lines of the status that is shown now.
  private let shownLines = Mutex(0)

  /// - Parameters:
  ///   - output: the file descriptor for results.
  ///   - errors: the file descriptor for everything else.
  init(isQuiet: Bool, output: Int32 = STDOUT_FILENO, errors: Int32 = STDERR_FILENO) {
    self.isQuiet = isQuiet
    self.output = output
    self.errors = ErrorOutput(descriptor: errors)
    isTerminal = Terminal.columns(errors) != nil
  }

  /// How wide standard output and standard error are; nil for one that is no terminal.
  var outputColumns: Int? { Terminal.columns(output) }
  var errorColumns: Int? { Terminal.columns(errors.descriptor) }

  /// A log line, or a sentence for people. What could move the cursor is shown by its escapes.
  func write(line: String) {
    write(styled: Self.harmless(line))
  }

  /// The same with colours, whose text must be harmless already.
  func write(styled line: String) {
    write(styled: line, patience: ErrorOutput.patience)
  }

  private func write(styled line: String, patience: Duration) {
    shownLines.withLock { shown in
      errors.write(Self.eraser(of: shown) + line + "\n", patience: patience)
      shown = 0
    }
  }

  /// Text of any origin as it may be shown: a name from the network may hold whatever a terminal obeys.
  private static func harmless(_ text: String) -> String { text.printable(utf8Bytes: .max, keeping: ["\n", "\t"]) }

  /// Something that everyone should know, unless they requested quiet.
  func say(_ sentence: String) {
    if !isQuiet { write(line: sentence) }
  }

  /// What went wrong; not to be silenced.
  func report(_ sentence: String) {
    write(styled: Self.harmless("chatbot: \(sentence)"), patience: .seconds(1))
  }

  /// A result, for people and programs alike.
  ///
  /// - Parameter isWanted: whether it was requested by name, so that quiet does not mean it.
  func result(_ line: String, isWanted: Bool = false) {
    result(styled: Self.harmless(line), isWanted: isWanted)
  }

  /// The same with colours, whose text must be harmless already.
  func result(styled line: String, isWanted: Bool = false) {
    if isQuiet && !isWanted { return }
    clearStatus()
    let failure = Self.write(line + "\n", to: output)
    // Those who have closed the pipe has read what they wanted.
    if failure == 0 || failure == EPIPE { return }
    outputFailure.withLock { $0 = $0 ?? String(cString: strerror(failure)) }
  }

  /// Writes all of a text; gives the number of the error that kept it from that, or zero.
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

  /// Throws if a result could not be written in full.
  func checkOutput() throws(CallFailure) {
    if let reason = outputFailure.withLock(\.self) {
      throw CallFailure(.disk, "Standard output cannot be written: \(reason).")
    }
  }

  /// Something for programs that was requested by name: standard output holds it as it is, and nothing else.
  func document(_ text: String) throws(CallFailure) {
    clearStatus()
    let failure = Self.write(text, to: output)
    if failure != 0 { throw CallFailure(.disk, String(cString: strerror(failure))) }
  }

  /// Puts the status line at the bottom of the terminal; without a terminal nothing is shown.
  func show(_ status: StatusLine) {
    guard !isQuiet, let columns = errorColumns else { return }
    shownLines.withLock { shown in
      errors.write((shown > 1 ? Self.eraser(of: shown) : "") + status.onTerminal(columns: columns))
      shown = 1
    }
  }

  /// Puts a table at the bottom of the terminal, in the place of the one before it; without a terminal nothing is shown.
  ///
  /// - Parameter lines: without control characters; those that are too long are cut.
  func show(lines: [String]) {
    guard !isQuiet, let columns = errorColumns else { return }
    shownLines.withLock { shown in
      let text = lines.map { StatusLine.cut($0.printable(utf8Bytes: .max), to: columns - 1) }.joined(separator: "\n")
      errors.write(Self.eraser(of: shown) + text)
      shown = lines.count
    }
  }

  func clearStatus() {
    shownLines.withLock { shown in
      if shown > 0 { errors.write(Self.eraser(of: shown)) }
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
}
