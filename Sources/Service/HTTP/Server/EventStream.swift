import HTTPTypes
import Hummingbird
import Media
import NIOCore
import ServiceLifecycle
import Synchronization

/// A stream of server-sent events (HTML Living Standard, 9.2). A client that does not read is disconnected when 1 MiB waits for it.
final class EventStream: Sendable {
  static let maximumPending = 1 << 20
  /// How often a comment is sent, by which proxies and the service notice that the other side has gone.
  static let commentInterval = Duration.seconds(15)

  private struct Overflow: Error {}

  private let buffers: AsyncStream<ByteBuffer>
  private let continuation: AsyncStream<ByteBuffer>.Continuation
  private let pending = Mutex(0)
  private let channel: any Channel

  private init(channel: any Channel) {
    self.channel = channel
    (buffers, continuation) = AsyncStream.makeStream()
  }

  /// Sends an event. Line ends in the data are those of JSON, which has none outside strings, and escapes them there.
  ///
  /// - Throws: if too much waits; the connection is closed then.
  func send(id: String? = nil, event: String, data: String) throws {
    try send((id.map { "id: \($0)\n" } ?? "") + "event: \(event)\ndata: \(data)\n\n")
  }

  private func send(_ text: String) throws {
    let buffer = ByteBuffer(string: text)
    let waiting = pending.withLock {
      $0 += buffer.readableBytes
      return $0
    }
    guard waiting <= Self.maximumPending else {
      continuation.finish()
      channel.close(promise: nil)
      throw Overflow()
    }
    continuation.yield(buffer)
  }

  /// Returns the answer. `produce` sends events until it is cancelled or returns.
  static func response(
    _ channel: any Channel, _ produce: @escaping @Sendable (EventStream) async throws -> Void
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
              try stream.send(": \n\n")
              try await Task.sleep(for: commentInterval)
            }
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
