import Logging

extension Logger {
  /// Discards all log messages.
  static var quiet: Logger { Logger(label: "quiet", factory: { _ in SwiftLogNoOpLogHandler() }) }
}
