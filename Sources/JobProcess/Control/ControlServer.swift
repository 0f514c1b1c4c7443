internal import FoundationEssentials
internal import Glibc
internal import JobProtocol
internal import Media
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// Serves the control socket: requests and answers as lines, the requests of a connection one after another, except that none waits for
/// a snapshot.
///
/// A client that does not read its answers makes only its own connection wait.
final class ControlServer: Sendable {
  /// What carries out requests.
  struct Handlers: Sendable {
    var hello: @Sendable () -> ControlAnswer.Hello
    var status: @Sendable () async -> JobStatus
    var pause: @Sendable (_ users: [String]?) async -> Result<JournalEvent.PauseChange, ControlError>
    var resume: @Sendable (_ users: [String]?) async -> Result<JournalEvent.PauseChange, ControlError>
    var snapshot: @Sendable (_ user: String, _ stream: Int?) async -> Result<Snapshot, ControlError>
    var stop: @Sendable (_ reason: JobEndReason?) -> Void
    /// Called with the number of connected services whenever it changes.
    var servicesChanged: @Sendable (_ count: Int) -> Void
  }

  private typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>
  private typealias Writer = NIOAsyncChannelOutboundWriter<ByteBuffer>

  /// The maximum number of connections; further ones are closed.
  private static let maximumConnections = 16
  /// The maximum number of snapshots that are made at the same time.
  private static let maximumSnapshots = 16
  private static let interval = Duration.seconds(1)

  private let handlers: Handlers
  private let channel: NIOAsyncChannel<any Channel, Never>
  private let loop: any EventLoop
  private let services = Mutex(0)
  private let connections = Mutex(0)
  private let snapshots = Mutex(0)

  /// Binds the socket.
  ///
  /// - Parameter path: of at most 107 bytes, where no file is.
  init(path: String, handlers: Handlers) async throws(JobFailure) {
    self.handlers = handlers
    let group = MultiThreadedEventLoopGroup.singleton
    loop = group.next()
    do {
      channel = try await ServerBootstrap(group: group)
        .serverChannelOption(.backlog, value: 16)
        // Nothing is read of a connection before it is served. One that came when the server ended is never wrapped, because NIO ends
        // a process that drops a wrapped channel.
        .childChannelOption(.autoRead, value: false)
        .bind(unixDomainSocketPath: path) { channel in channel.eventLoop.makeSucceededFuture(channel) }
    } catch {
      throw .folder("The control socket cannot be bound: \(error).")
    }
  }

  /// Serves connections until the task is cancelled.
  func run() async {
    try? await channel.executeThenClose { connections in
      try await withThrowingDiscardingTaskGroup { group in
        for try await channel in connections {
          group.addTask { await self.serve(channel) }
        }
      }
    }
  }

  private func serve(_ channel: any Channel) async {
    let wrapping = channel.eventLoop.submit { try Connection(wrappingChannelSynchronously: channel) }
    guard let connection = try? await wrapping.get() else { return }
    let count = connections.withLock { count in
      count += 1
      return count
    }
    var isService = false
    try? await connection.executeThenClose { input, output in
      guard count <= Self.maximumConnections else { return }
      try await channel.setOption(.autoRead, value: true).get()
      await withDiscardingTaskGroup { group in
        await self.read(input, output, &group, &isService)
        group.cancelAll()
      }
    }
    connections.withLock { $0 -= 1 }
    if isService { change(by: -1) }
  }

  private func read(
    _ input: NIOAsyncChannelInboundStream<ByteBuffer>, _ output: Writer, _ group: inout DiscardingTaskGroup,
    _ isService: inout Bool
  ) async {
    var reader = ControlLineReader()
    var isSubscribed = false
    do {
      for try await buffer in input {
        for line in try reader.read(buffer.readableBytesView) {
          guard let request = try? ControlRequest(parsing: line) else {
            try await write(ControlAnswer(id: 0, .error(ControlError(.badRequest, "The line is no request."))), output)
            continue
          }
          if case .hello = request.command, !isService {
            isService = true
            change(by: 1)
          }
          if case .snapshot = request.command {
            // It takes seconds, for which a pause does not wait.
            let isAllowed = snapshots.withLock { count in
              guard count < Self.maximumSnapshots else { return false }
              count += 1
              return true
            }
            guard isAllowed else {
              let error = ControlError(.tooSoon, "Too many snapshots are being made.")
              try await write(ControlAnswer(id: request.id, .error(error)), output)
              continue
            }
            group.addTask {
              for answer in await self.answers(to: request) { try? await self.write(answer, output) }
              self.snapshots.withLock { $0 -= 1 }
            }
            continue
          }
          guard case .subscribe = request.command else {
            for answer in await answers(to: request) { try await write(answer, output) }
            continue
          }
          if isSubscribed {
            try await write(
              ControlAnswer(id: request.id, .error(ControlError(.notNow, "The connection has a subscription."))), output
            )
          } else {
            isSubscribed = true
            group.addTask { await self.report(to: request.id, output) }
          }
        }
      }
    } catch let error as ControlLineError {
      try? await write(ControlAnswer(id: 0, .error(ControlError(.badRequest, error.description))), output)
    } catch {
      // The client has gone.
    }
  }

  private func change(by difference: Int) {
    let count = services.withLock { count in
      count += difference
      return count
    }
    handlers.servicesChanged(count)
  }

  /// Sends a status each second.
  private func report(to id: Int64, _ output: Writer) async {
    while !Task.isCancelled {
      let status = await handlers.status()
      do { try await write(ControlAnswer(id: id, .status(status)), output) } catch { return }
      try? await loop.sleep(for: Self.interval)
    }
  }

  private func answers(to request: ControlRequest) async -> [ControlAnswer] {
    func answer(_ result: ControlAnswer.Result) -> [ControlAnswer] { [ControlAnswer(id: request.id, result)] }
    switch request.command {
    case .hello: return answer(.hello(handlers.hello()))
    case .status: return answer(.status(await handlers.status()))
    case .pause(let users): return answer(Self.result(await handlers.pause(users)))
    case .resume(let users): return answer(Self.result(await handlers.resume(users)))
    case .snapshot(let user, let stream):
      switch await handlers.snapshot(user, stream) {
      case .success(let snapshot): return snapshot.parts.map { ControlAnswer(id: request.id, .snapshot($0)) }
      case .failure(let error): return answer(.error(error))
      }
    case .stop(let reason):
      handlers.stop(reason)
      return answer(.stopping)
    case .subscribe: return []
    case .unknown(let name):
      return answer(.error(ControlError(.unknownRequest, "There is no request \(name.printable(utf8Bytes: 64)).")))
    }
  }

  private static func result(_ result: Result<JournalEvent.PauseChange, ControlError>) -> ControlAnswer.Result {
    switch result {
    case .success(let change): .paused(change)
    case .failure(let error): .error(error)
    }
  }

  /// Writes a line. A status that does not fit into one names fewer users.
  private func write(_ answer: ControlAnswer, _ output: Writer) async throws {
    var answer = answer
    var line = try answer.line
    while line.count > ControlLine.maximumBytes, case .status(var status) = answer.result, !status.users.isEmpty {
      let kept = status.users.count * ControlLine.maximumBytes / line.count
      status.users = Array(status.users.prefix(min(status.users.count - 1, kept)))
      answer.result = .status(status)
      line = try answer.line
    }
    guard line.count <= ControlLine.maximumBytes else {
      let error = ControlError(.failed, "The answer does not fit into a line.")
      line = try ControlAnswer(id: answer.id, .error(error)).line
      return try await output.write(ByteBuffer(bytes: line + [UInt8(ascii: "\n")]))
    }
    try await output.write(ByteBuffer(bytes: line + [UInt8(ascii: "\n")]))
  }
}

/// A small copy of a frame of a user, as a PNG file.
struct Snapshot: Sendable, Hashable {
  /// The time of the frame, in milliseconds since 1970.
  var time: Int64
  var width: Int
  var height: Int
  var png: Data

  /// The answers that carry it.
  var parts: [ControlAnswer.SnapshotPart] {
    let size = ControlAnswer.SnapshotPart.maximumBytes
    let count = max(1, (png.count + size - 1) / size)
    return (0..<count).map { part in
      ControlAnswer.SnapshotPart(
        time: time, width: width, height: height, part: part, parts: count,
        png: png.dropFirst(part * size).prefix(size))
    }
  }
}
