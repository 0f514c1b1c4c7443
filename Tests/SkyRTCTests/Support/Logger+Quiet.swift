import Logging

extension Logger {
  /// Says nothing.
  static var quiet: Logger { Logger(label: "quiet", factory: { _ in SwiftLogNoOpLogHandler() }) }
}
