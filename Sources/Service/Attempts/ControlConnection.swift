internal import FoundationEssentials
internal import Glibc
package import JobProtocol
package import NIOCore
internal import NIOPosix

/// A connection to the control socket of a job process.
package final class ControlConnection: Sendable {
  private let connection: NIOAsyncChannel<ByteBuffer, ByteBuffer>

  private init(_ connection: NIOAsyncChannel<ByteBuffer, ByteBuffer>) { self.connection = connection }

  /// Connects to the socket in a folder.
  ///
  /// - Throws: while the process does not listen.
  package static func open(_ folder: AttemptDirectory, on loop: any EventLoop) async throws -> ControlConnection {
    // The path of a socket has at most 107 bytes; that of the folder may have more.
    let file = Glibc.open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard file >= 0 else { throw IOError(errnoCode: errno, reason: "open") }
    defer { Glibc.close(file) }
    let path = ControlPath.path(
      in: folder.path, descriptor: file, hasDescriptors: access("/proc/self/fd/\(file)", F_OK) == 0)
    return ControlConnection(
      try await ClientBootstrap(group: loop).connectTimeout(.seconds(2))
        .connect(unixDomainSocketPath: path) { channel in
          channel.eventLoop.makeCompletedFuture {
            try NIOAsyncChannel(
              wrappingChannelSynchronously: channel,
              configuration: .init(inboundType: ByteBuffer.self, outboundType: ByteBuffer.self))
          }
        })
  }

  /// Reads answers until the connection ends, the task is cancelled, or something is no answer.
  ///
  /// - Parameter received: is awaited before more is read, so that a process that sends too much waits.
  package func run(_ received: @Sendable (ControlAnswer) async -> Void) async throws {
    try await connection.executeThenClose { inbound, _ in
      var reader = ControlLineReader()
      for try await buffer in inbound {
        for line in try reader.read(buffer.readableBytesView) {
          await received(try ControlAnswer(parsing: line))
        }
      }
    }
  }

  /// Sends a request; requests are sent in the order of the calls.
  ///
  /// - Returns: false if the process does not read.
  @discardableResult
  package func send(_ request: ControlRequest) -> Bool {
    let channel = connection.channel
    guard channel.isActive, channel.isWritable, let line = try? request.line else { return false }
    var buffer = channel.allocator.buffer(capacity: line.count + 1)
    buffer.writeBytes(line)
    buffer.writeInteger(UInt8(ascii: "\n"))
    channel.writeAndFlush(buffer, promise: nil)
    return true
  }

  package func close() { connection.channel.close(promise: nil) }
}
