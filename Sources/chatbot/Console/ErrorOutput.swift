import Glibc
import Synchronization

/// Standard error, for whose reader no call ever waits.
///
/// A pipe that nobody empties is full after 64 KiB. What comes then is skipped and counted, and the count is told when there is
/// room again.
final class ErrorOutput: Sendable {
  private struct State {
    /// Texts that were skipped since one was written.
    var leftOut = 0
  }

  let descriptor: Int32
  private let state = Mutex(State())

  /// How long a text waits for room, unless the one before it was skipped.
  static let patience = Duration.milliseconds(50)
  /// How much is written to a pipe at once, or not at all (POSIX, PIPE_BUF).
  private static let piece = 4_096

  init(descriptor: Int32) {
    self.descriptor = descriptor
  }

  /// Writes a text, or leaves it out.
  ///
  /// - Parameter patience: how long it waits for room.
  func write(_ text: String, patience: Duration = ErrorOutput.patience) {
    state.withLock { state in
      guard isReady(within: state.leftOut == 0 || patience > Self.patience ? patience : .zero) else {
        state.leftOut += 1
        return
      }
      var whole = text
      if state.leftOut > 0 {
        whole = "chatbot: Standard error was not read: \(state.leftOut) lines were skipped.\n" + text
        state.leftOut = 0
      }
      var left = Array(whole.utf8)[...]
      while !left.isEmpty {
        // What has begun to be written is not skipped at once, so that a line is whole.
        guard isReady(within: max(patience, Self.patience)) else {
          state.leftOut += 1
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

  /// Whether a piece can be written without waiting.
  private func isReady(within patience: Duration) -> Bool {
    let deadline = ContinuousClock.now + patience
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
