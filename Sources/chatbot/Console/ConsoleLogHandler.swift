import Foundation
import Logging
import SkyRTC

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
      guard let leftOut = console.logAllowance.take() else { return }
      if leftOut > 0 { write("INFO", "\(leftOut) lines were left out, because there were too many.") }
    }
    let details = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
      .map { " \($0.key)=\(Self.quoted("\($0.value)"))" }.joined()
    let level = event.level.rawValue.uppercased()
    write(level, "\(event.message)".printable(utf8Bytes: Self.longestMessage) + details)
  }

  private func write(_ level: String, _ text: String) {
    let padded = level.padding(toLength: 7, withPad: " ", startingAt: 0)
    console.write(line: "\(Self.time(Date())) \(padded) \(text)")
  }

  /// The most bytes that are shown of a message, and of each value that belongs to it.
  private static let longestMessage = 2_000
  private static let longestValue = 1_000

  /// Text from the network never breaks a line, forges one or moves the cursor.
  private static func quoted(_ text: String) -> String {
    let shown = text.printable(utf8Bytes: longestValue)
    let isPlain = !shown.isEmpty && !shown.unicodeScalars.contains { $0 == " " || $0 == "\"" } && shown == text
    return isPlain ? shown : "\"\(shown.replacing("\"", with: "\\\""))\""
  }

  private static func time(_ date: Date) -> String {
    date.formatted(
      .verbatim(
        "\(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\(second: .twoDigits).\(secondFraction: .fractional(3))",
        timeZone: .current, calendar: .current))
  }
}
