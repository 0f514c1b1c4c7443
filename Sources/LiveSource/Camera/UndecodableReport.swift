import FileSource
import Logging
import Media

/// Reports what could not be decoded: of the first at once, of all at the end, so that a damaged file does not fill the log.
struct UndecodableReport {
  private let kind: MediaKind
  private let file: String
  private let logger: Logger
  private var hasReported = false

  init(_ kind: MediaKind, of file: String, logger: Logger) {
    self.kind = kind
    self.file = file
    self.logger = logger
  }

  private var noun: String { kind == .video ? "frame" : "audio packet" }

  /// Looks at what has been skipped until now.
  mutating func look(at leftOut: Undecodable) {
    guard !hasReported, let first = leftOut.first else { return }
    hasReported = true
    let instead = kind == .video ? "the one before it stops" : "there is silence in its place"
    logger.warning(
      "A \(noun) cannot be decoded and is skipped; \(instead).",
      metadata: [
        "file": "\(file)", "time": "\(Self.seconds(first.time)) s", "reason": "\(first.reason)",
      ])
  }

  /// Sums up at the end.
  func end(with leftOut: Undecodable) {
    guard leftOut.count > 1 else { return }
    let nouns = kind == .video ? "frames" : "audio packets"
    logger.warning(
      "\(leftOut.count) \(nouns) could not be decoded and were skipped.", metadata: ["file": "\(file)"])
  }

  /// With three decimals.
  private static func seconds(_ time: Int64) -> String {
    let milliseconds = time / (Int64(FileTime.rate) / 1_000)
    let rest = "\(milliseconds % 1_000)"
    return "\(milliseconds / 1_000).\(String(repeating: "0", count: 3 - rest.count))\(rest)"
  }
}
