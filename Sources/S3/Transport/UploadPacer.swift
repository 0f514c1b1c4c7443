internal import AsyncHTTPClient
package import Media
internal import NIOCore
internal import Synchronization

/// Spreads the bytes of all uploads over time.
package final class UploadPacer: Sendable {
  package let bytesPerSecond: Int64
  private let free: Mutex<MonotonicInstant?>

  /// The pieces in which bytes are sent: a few in a second, so that no connection waits long.
  package let pieceSize: Int

  package init(bytesPerSecond: Int64) {
    self.bytesPerSecond = max(1, bytesPerSecond)
    pieceSize = Int(min(max(bytesPerSecond / 8, 4_096), Int64(HTTPClientTransport.pieceSize)))
    free = Mutex(nil)
  }

  /// Returns how long to wait before so many bytes are sent. The time after that belongs to them.
  package func reserve(_ bytes: Int, now: MonotonicInstant) -> Duration {
    free.withLock { free in
      let start = max(free ?? now, now)
      free = start + .nanoseconds(Int64(Double(bytes) / Double(bytesPerSecond) * 1e9))
      return start - now
    }
  }

  func wait(for bytes: Int) async throws {
    let pause = reserve(bytes, now: .now)
    if pause > .zero { try await HTTPClient.defaultEventLoopGroup.any().sleep(for: pause) }
  }
}
