import Glibc
import Logging
import NIOCore
import SkyRTC
import Synchronization

/// One line an event: time, level, message, and what belongs to it.
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
      guard let leftOut = console.logAllowance.consume() else { return }
      if leftOut > 0 { write("INFO", "\(leftOut) lines were skipped, because there were too many.") }
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

  /// The most bytes that are shown of a message, and of each value that belongs to it.
  private static let maximumMessage = 2_000
  private static let maximumValue = 1_000

  /// Text from the network never breaks a line, forges one or moves the cursor.
  private static func quoted(_ text: String) -> String {
    let shown = text.printable(utf8Bytes: maximumValue)
    let isPlain = !shown.isEmpty && !shown.unicodeScalars.contains { $0 == " " || $0 == "\"" } && shown == text
    return isPlain ? shown : "\"\(shown.replacing("\"", with: "\\\""))\""
  }

  /// The time of day where the program runs, for example `09:30:00.250`.
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

/// How many lines of ordinary events a log may have: somebody who comes and goes without end must not fill a disk.
///
/// Warnings and errors have limits where they arise, and who asks for more detail than usual gets all of it.
final class EventLogLimiter: Sendable {
  static let linesPerSecond = 20
  static let burst = 2_000
  private let lines: Mutex<LogRateLimiter>

  init(now: NIODeadline = .now()) {
    lines = Mutex(LogRateLimiter(perSecond: Self.linesPerSecond, burst: Self.burst, now: now))
  }

  /// Takes a line.
  ///
  /// - Returns: how many were skipped before it; nil when it is to be skipped too.
  func consume(now: NIODeadline = .now()) -> Int? {
    lines.withLock { $0.consume(now: now) }
  }
}
