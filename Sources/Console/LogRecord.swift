internal import FoundationEssentials
internal import Glibc
internal import Media

/// How log lines are written.
package enum LogFormat: String, Sendable, CaseIterable {
  /// Time, level, message and fields, for people.
  case text
  /// One JSON object for each line, for programs.
  case json
}

/// When colours are used.
package enum ColorChoice: String, Sendable, CaseIterable {
  /// On a terminal, unless the environment variable `NO_COLOR` is set (no-color.org).
  case auto
  case always
  case never

  /// - Parameters:
  ///   - isTerminal: whether the text goes to a terminal.
  ///   - noColor: the value of `NO_COLOR`; an empty one does not count.
  package func isColoured(isTerminal: Bool, noColor: String?) -> Bool {
    switch self {
    case .always: true
    case .never: false
    case .auto: isTerminal && (noColor ?? "").isEmpty
    }
  }
}

/// One event of a log, with texts that are cut and printable. Pure.
package struct LogRecord: Sendable, Hashable {
  /// The time since 1970-01-01 00:00 UTC.
  package var seconds: Int
  package var nanoseconds: Int
  /// In small letters, for example `info`.
  package var level: String
  package var message: String
  /// Fields by name.
  package var fields: [String: String]

  /// The maximum bytes of a message and of each value.
  private static let maximumMessage = 2_000
  private static let maximumValue = 1_000

  package init(
    seconds: Int, nanoseconds: Int, level: String, message: String, fields: [String: String] = [:]
  ) {
    self.seconds = seconds
    self.nanoseconds = nanoseconds
    self.level = level
    self.message = message.printable(utf8Bytes: Self.maximumMessage)
    self.fields = fields
  }

  /// An event that happens now.
  package init(level: String, message: String, fields: [String: String] = [:]) {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    self.init(seconds: now.tv_sec, nanoseconds: now.tv_nsec, level: level, message: message, fields: fields)
  }

  /// The line for people.
  ///
  /// - Parameters:
  ///   - isDated: whether it begins with the date in UTC as RFC 3339 has it; else it is the local time of day.
  ///   - isColoured: whether the level of warnings and errors has an ANSI colour.
  package func text(isDated: Bool, isColoured: Bool = false) -> String {
    let details = fields.sorted { $0.key < $1.key }.map { " \($0.key)=\(Self.quoted($0.value))" }.joined()
    let upper = level.uppercased()
    let padding = String(repeating: " ", count: max(0, 7 - upper.count))
    return "\(isDated ? date : timeOfDay) \(isColoured ? coloured(upper) : upper)\(padding) \(message)\(details)"
  }

  private func coloured(_ text: String) -> String {
    switch level {
    case "warning": "\u{1B}[33m\(text)\u{1B}[0m"
    case "error", "critical": "\u{1B}[31m\(text)\u{1B}[0m"
    default: text
    }
  }

  /// The line for programs: `time`, `level`, `message` and `fields`.
  package var json: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let line = Line(
      time: date, level: level, message: message,
      fields: fields.isEmpty ? nil : fields.mapValues { $0.prefix(utf8Bytes: Self.maximumValue) })
    guard let data = try? encoder.encode(line) else { return "{}" }
    return String(decoding: data, as: UTF8.self).escapingInvisibleInJSON
  }

  private struct Line: Encodable {
    var time: String
    var level: String
    var message: String
    var fields: [String: String]?
  }

  /// Quotes text from the network, so that it cannot break or forge a log line or move the cursor.
  private static func quoted(_ text: String) -> String {
    let shown = text.printable(utf8Bytes: maximumValue)
    let isPlain = !shown.isEmpty && !shown.unicodeScalars.contains { $0 == " " || $0 == "\"" } && shown == text
    return isPlain ? shown : "\"\(shown.replacing("\"", with: "\\\""))\""
  }

  /// For example `2026-03-01T09:30:00.250Z`.
  package var date: String {
    var (fields, seconds) = (tm(), seconds)
    gmtime_r(&seconds, &fields)
    let day = [Int(fields.tm_year) + 1_900, Int(fields.tm_mon) + 1, Int(fields.tm_mday)]
    return "\(Self.digits(day[0], 4))-\(Self.digits(day[1], 2))-\(Self.digits(day[2], 2))T\(clock(fields))Z"
  }

  /// The local time of day, for example `09:30:00.250`.
  private var timeOfDay: String {
    var (fields, seconds) = (tm(), seconds)
    localtime_r(&seconds, &fields)
    return clock(fields)
  }

  private func clock(_ fields: tm) -> String {
    [fields.tm_hour, fields.tm_min, fields.tm_sec].map { Self.digits(Int($0), 2) }.joined(separator: ":") + "."
      + Self.digits(nanoseconds / 1_000_000, 3)
  }

  private static func digits(_ value: Int, _ count: Int) -> String {
    let text = String(value)
    return String(repeating: "0", count: max(0, count - text.count)) + text
  }
}
