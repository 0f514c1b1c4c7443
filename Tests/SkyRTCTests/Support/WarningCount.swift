import Logging
import Synchronization

/// Counts the warnings and errors that a logger receives.
final class WarningCount: Sendable {
  private let warnings = Mutex(0)

  var count: Int { warnings.withLock { $0 } }
  var logger: Logger { Logger(label: "counted") { _ in Handler(owner: self) } }

  private struct Handler: LogHandler {
    let owner: WarningCount
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .warning

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { owner.warnings.withLock { $0 += 1 } }
  }
}
