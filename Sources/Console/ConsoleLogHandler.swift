internal import Glibc
internal import Logging
package import Media
internal import Signalling
internal import Synchronization

/// Writes one line for each log event: time, level, message and metadata.
struct ConsoleLogHandler: LogHandler {
  let label: String
  let console: Console
  var logLevel = Logger.Level.info
  var metadata: Logger.Metadata = [:]

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    if event.level == .info, logLevel == .info {
      guard let skippedLines = console.logAllowance.consume() else { return }
      if skippedLines > 0 { write("INFO", "\(skippedLines) lines were skipped, because there were too many.") }
    }
    let details = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
      .map { " \($0.key)=\(Self.quoted("\($0.value)"))" }.joined()
    let level = event.level.rawValue.uppercased()
    write(level, "\(event.message)".printable(utf8Bytes: Self.maximumMessage) + details)
  }

  private func write(_ level: String, _ text: String) {
    let padded = level + String(repeating: " ", count: max(0, 7 - level.count))
    console.write(line: "\(Self.time()) \(padded) \(text)")
  }

  /// The maximum bytes shown of a message and of each metadata value.
  private static let maximumMessage = 2_000
  private static let maximumValue = 1_000

  /// Quotes text from the network, so that it cannot break or forge a log line or move the cursor.
  private static func quoted(_ text: String) -> String {
    let shown = text.printable(utf8Bytes: maximumValue)
    let isPlain = !shown.isEmpty && !shown.unicodeScalars.contains { $0 == " " || $0 == "\"" } && shown == text
    return isPlain ? shown : "\"\(shown.replacing("\"", with: "\\\""))\""
  }

  /// The local time of day, for example `09:30:00.250`.
  private static func time() -> String {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    var local = tm()
    localtime_r(&now.tv_sec, &local)
    func digits(_ value: Int, _ count: Int) -> String {
      let text = String(value)
      return String(repeating: "0", count: max(0, count - text.count)) + text
    }
    return [local.tm_hour, local.tm_min, local.tm_sec].map { digits(Int($0), 2) }.joined(separator: ":") + "."
      + digits(now.tv_nsec / 1_000_000, 3)
  }
}

/// Limits the rate of info lines in a log: a user who joins and leaves repeatedly must not fill a disk.
///
/// Warnings and errors are limited where they are logged. With a more detailed log level than the default nothing is
/// limited.
package final class EventLogLimiter: Sendable {
  static let linesPerSecond = 20
  static let burst = 2_000
  private let lines: Mutex<LogRateLimiter>

  package init() {
    lines = Mutex(LogRateLimiter(perSecond: Self.linesPerSecond, burst: Self.burst))
  }

  /// Takes one line from the allowance.
  ///
  /// - Returns: The number of lines skipped before this one, or nil if this one must be skipped too.
  package func consume(now: MonotonicInstant = .now) -> Int? {
    lines.withLock { $0.consume(now: now) }
  }
}
