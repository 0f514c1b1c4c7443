import HTTPTypes
import Hummingbird
import Media
import NIOCore
import ServiceLifecycle
import Synchronization

/// A stream of server-sent events (HTML Living Standard, 9.2). At most 1 MiB waits for a client; one that then reads nothing for
/// 5 s is disconnected.
final class EventStream: Sendable {
  static let maximumPending = 1 << 20
  private static let readingTime = Duration.seconds(5)
  /// How often a comment is sent, by which proxies and the service notice that the other side has gone.
  static let commentInterval = Duration.seconds(15)
  /// How often it is looked whether the token is still accepted.
  private static let checkInterval = Duration.seconds(1)

  private struct Overflow: Error {}

  private let buffers: AsyncStream<ByteBuffer>
  private let continuation: AsyncStream<ByteBuffer>.Continuation
  private let pending = Mutex(0)
  private let channel: any Channel

  private init(channel: any Channel) {
    self.channel = channel
    (buffers, continuation) = AsyncStream.makeStream()
  }

  /// Sends an event, as soon as there is room for it. Line ends in the data are those of JSON, which has none outside strings, and
  /// escapes them there.
  ///
  /// - Throws: if the client does not read; the connection is closed then.
  func send(id: String? = nil, event: String, data: String) async throws {
    try await send((id.map { "id: \($0)\n" } ?? "") + "event: \(event)\ndata: \(data)\n\n")
  }

  private func send(_ text: String) async throws {
    let buffer = ByteBuffer(string: text)
    var (waiting, end) = (Int.max, MonotonicInstant.now + Self.readingTime)
    while true {
      // An event that is larger than the limit goes alone.
      let before = pending.withLock { pending in
        if pending == 0 || pending + buffer.readableBytes <= Self.maximumPending {
          pending += buffer.readableBytes
          return 0
        }
        return pending
      }
      if before == 0 { break }
      // A client that reads slowly has time; another producer may have added something.
      if before < waiting { (waiting, end) = (before, .now + Self.readingTime) }
      guard MonotonicInstant.now < end else {
        continuation.finish()
        channel.close(promise: nil)
        throw Overflow()
      }
      try await ServiceTimer.sleep(for: .milliseconds(20))
    }
    continuation.yield(buffer)
  }

  /// Returns the answer. `produce` sends events until it is cancelled or returns.
  ///
  /// - Parameter isAllowed: whether the client may read on; the stream ends when it may not.
  static func response(
    _ channel: any Channel, while isAllowed: @escaping @Sendable () -> Bool,
    _ produce: @escaping @Sendable (EventStream) async throws -> Void
  ) -> Response {
    let body = ResponseBody { writer in
      let stream = EventStream(channel: channel)
      channel.closeFuture.whenComplete { _ in stream.continuation.finish() }
      try await withGracefulShutdownHandler {
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask {
            // What it throws ends the stream; the client connects again and learns why.
            try? await produce(stream)
            stream.continuation.finish()
          }
          group.addTask {
            while !Task.isCancelled {
              try await stream.send(": \n\n")
              try await ServiceTimer.sleep(for: commentInterval)
            }
          }
          group.addTask {
            while isAllowed() { try await ServiceTimer.sleep(for: checkInterval) }
            stream.continuation.finish()
          }
          defer { group.cancelAll() }
          for await buffer in stream.buffers {
            try await writer.write(buffer)
            stream.pending.withLock { $0 -= buffer.readableBytes }
          }
        }
      } onGracefulShutdown: {
        stream.continuation.finish()
      }
      try await writer.finish(nil)
    }
    return Response(
      status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"], body: body)
  }
}
