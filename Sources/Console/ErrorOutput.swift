internal import Glibc
internal import Synchronization

/// Standard error, written without ever blocking a call.
///
/// A pipe that is not read is full after 64 KiB. Further texts are skipped and counted, and the count is reported when
/// there is room again.
package final class ErrorOutput: Sendable {
  private struct State {
    /// The number of texts skipped since the last one was written.
    var skippedLines = 0
  }

  package let descriptor: Int32
  private let state = Mutex(State())

  /// How long a text waits for room, unless the previous one was skipped.
  package static let defaultTimeout = Duration.milliseconds(50)
  /// The size that is written to a pipe atomically (POSIX, PIPE_BUF).
  private static let piece = 4_096

  package init(descriptor: Int32) {
    self.descriptor = descriptor
  }

  /// Writes a text, or skips it.
  ///
  /// - Parameter timeout: How long it waits for room.
  package func write(_ text: String, timeout: Duration = ErrorOutput.defaultTimeout) {
    state.withLock { state in
      guard isReady(within: state.skippedLines == 0 || timeout > Self.defaultTimeout ? timeout : .zero) else {
        state.skippedLines += 1
        return
      }
      var whole = text
      if state.skippedLines > 0 {
        whole = "chatbot: Standard error was not read: \(state.skippedLines) lines were skipped.\n" + text
        state.skippedLines = 0
      }
      var left = Array(whole.utf8)[...]
      while !left.isEmpty {
        // A text that is partly written waits for room, so that the line is complete.
        guard isReady(within: max(timeout, Self.defaultTimeout)) else {
          state.skippedLines += 1
          return
        }
        let count = left.prefix(Self.piece).withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        if count > 0 {
          left = left.dropFirst(count)
        } else if errno != EINTR && errno != EAGAIN {
          return
        }
      }
    }
  }

  /// Whether a piece can be written within the given time.
  private func isReady(within timeout: Duration) -> Bool {
    let deadline = ContinuousClock.now + timeout
    while true {
      var output = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      let rest = max(.zero, ContinuousClock.now.duration(to: deadline))
      let milliseconds = Int32(
        clamping: rest.components.seconds * 1_000 + rest.components.attoseconds / 1_000_000_000_000_000)
      let count = poll(&output, 1, milliseconds)
      if count > 0 { return true }
      if count == 0 || errno != EINTR { return count != 0 }
    }
  }
}
