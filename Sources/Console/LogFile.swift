internal import Glibc
internal import Media
internal import Synchronization

/// A log file with rotation. Lines are written by a thread, so that a slow disk blocks no caller.
package final class LogFile: Sendable {
  private struct State {
    var lines: [String] = []
    var bytes = 0
    /// The number of lines for which there was no room.
    var skipped = 0
    var isWriting = false
    var isClosed = false
  }

  private let state = Mutex(State())
  /// The write end of the pipe on which the thread waits.
  private let wakeup: Int32
  private let format: LogFormat

  /// The maximum bytes of lines that wait for the disk.
  private static let maximumBytes = 4 << 20
  package static let defaultSize: Int64 = 10_000_000

  /// Opens the file.
  ///
  /// - Parameters:
  ///   - size: the size at which the file is full.
  ///   - whenFull: what happens then.
  package init(
    path: String, size: Int64 = LogFile.defaultSize, format: LogFormat = .text,
    whenFull: RotatingFile.WhenFull = .rename(kept: 5)
  ) throws(OutputError) {
    let file = try RotatingFile(path: path, maximumBytes: size, whenFull: whenFull)
    self.format = format
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw OutputError(number: errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
    wakeup = ends[1]
    let readingEnd = ends[0]
    let isStarted = DedicatedThread.start("log file") { self.run(file, readingEnd) }
    if !isStarted { throw OutputError(description: "no thread can be started") }
  }

  /// Adds a line. Never blocks.
  package func write(_ record: LogRecord) {
    let line = Self.line(record, format)
    let isNew = state.withLock { state in
      guard state.bytes + line.utf8.count <= Self.maximumBytes, !state.isClosed else {
        state.skipped += 1
        return false
      }
      state.lines.append(line)
      state.bytes += line.utf8.count
      return true
    }
    if isNew { wake() }
  }

  private static func line(_ record: LogRecord, _ format: LogFormat) -> String {
    switch format {
    case .text: record.text(isDated: true)
    case .json: record.json
    }
  }

  /// Waits until the lines are written, but not longer than the limit, and closes the file.
  package func close(within limit: Duration = .seconds(2)) {
    let deadline = MonotonicInstant.now + limit
    while state.withLock({ !$0.lines.isEmpty || $0.isWriting }), MonotonicInstant.now < deadline { usleep(2_000) }
    let wasClosed = state.withLock { state in
      defer { state.isClosed = true }
      return state.isClosed
    }
    if !wasClosed { wake() }
  }

  deinit { Glibc.close(wakeup) }

  private func wake() {
    var byte: UInt8 = 0
    // A full pipe wakes the thread as well.
    _ = Glibc.write(wakeup, &byte, 1)
  }

  private func run(_ opened: RotatingFile, _ readingEnd: Int32) {
    var file = opened
    let note = { [format] (missing: Int, reason: String) in
      Self.line(
        LogRecord(
          level: "warning", message: "\(missing) lines are missing, because the log could not be written",
          fields: ["reason": reason]), format)
    }
    while true {
      var bytes: [UInt8] = Array(repeating: 0, count: 4_096)
      if read(readingEnd, &bytes, bytes.count) < 0, errno != EINTR { break }
      let (lines, skipped, isClosed) = state.withLock { state in
        defer { (state.lines, state.bytes, state.skipped) = ([], 0, 0) }
        state.isWriting = true
        return (state.lines, state.skipped, state.isClosed)
      }
      for line in lines { file.write(line: line, note: note) }
      if skipped > 0 { file.write(line: note(skipped, "the disk is slow"), note: note) }
      state.withLock { $0.isWriting = false }
      if isClosed { break }
    }
    file.close()
    Glibc.close(readingEnd)
  }
}
