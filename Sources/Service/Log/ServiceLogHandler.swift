import FoundationEssentials
import Glibc
package import Logging
import Media
import Synchronization

/// Log lines on standard error: for people, or one JSON object for each, with the time, the level, the message and the metadata
/// (`job`, `attempt`, `user`) as fields.
package struct ServiceLogHandler: LogHandler {
  package typealias Format = ServiceConfiguration.Log.Format

  package var metadata: Logger.Metadata = [:]
  package var logLevel: Logger.Level
  private let label: String
  private let format: Format
  private let write: @Sendable (String) -> Void

  private static let lock = Mutex(())
  private static let maximumMessage = 8_192

  /// - Parameter write: writes a line with its end; nil for standard error.
  package init(
    label: String, level: Logger.Level, format: Format, write: (@Sendable (String) -> Void)? = nil
  ) {
    self.label = label
    self.format = format
    logLevel = level
    self.write = write ?? Self.toStandardError
  }

  package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  package func log(event: LogEvent) {
    let level = event.level
    let time = APITime.text(Self.now())
    var fields = self.metadata.merging(event.metadata ?? [:]) { $1 }
    // Hummingbird numbers its requests, which no other line names.
    fields["hb.request.id"] = nil
    let text = "\(event.message)".prefix(utf8Bytes: Self.maximumMessage)
    switch format {
    case .text:
      let pairs = fields.sorted { $0.key < $1.key }.map { " \($0.key)=\("\($0.value)".printable())" }.joined()
      write("\(time) \(level.rawValue) \(text.printable(utf8Bytes: Self.maximumMessage))\(pairs)\n")
    case .json:
      var object = ["time": time, "level": level.rawValue, "message": text]
      for (key, value) in fields where object[key] == nil { object[key] = "\(value)".prefix(utf8Bytes: 1_024) }
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      guard let data = try? encoder.encode(object) else { return }
      write(String(decoding: data, as: UTF8.self) + "\n")
    }
  }

  private static func now() -> Int64 {
    Int64(WallClock.read().secondsSince1970 * 1_000)
  }

  private static func toStandardError(_ line: String) {
    lock.withLock { _ in
      var rest = Array(line.utf8)[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return }
        rest = rest.dropFirst(count)
      }
    }
  }
}
