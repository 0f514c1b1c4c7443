import Logging
import Synchronization

/// Collects log messages.
final class LogRecorder: Sendable {
  private let kept = Mutex<[String]>([])

  /// Each message with its metadata: `message key=value`.
  var lines: [String] { kept.withLock(\.self) }

  var logger: Logger { Logger(label: "test") { _ in Handler(recorder: self) } }

  private struct Handler: LogHandler {
    let recorder: LogRecorder
    var logLevel = Logger.Level.warning
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let details = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
      recorder.kept.withLock { $0.append("\(event.message)\(details)") }
    }
  }
}
