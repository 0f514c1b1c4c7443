internal import Logging
package import Media
internal import Signalling
internal import Synchronization

/// Writes one line for each log event.
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
      if skippedLines > 0 {
        let sentence = "\(skippedLines) lines were skipped, because there were too many."
        console.write(LogRecord(level: "info", message: sentence))
      }
    }
    let fields = metadata.merging(event.metadata ?? [:]) { $1 }.mapValues { "\($0)" }
    console.write(LogRecord(level: event.level.rawValue, message: "\(event.message)", fields: fields))
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
