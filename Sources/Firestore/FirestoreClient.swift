internal import HTTPTransport
public import Logging
public import Media
public import NIOCore
public import NIOPosix
public import Signalling
import Synchronization

/// A participant's connection to a Firestore database through which two sides exchange descriptions and candidates.
///
/// It polls, because the REST API cannot notify. A call needs no server: while the database cannot be reached, calls
/// continue, and the client tries again after 0.5 to 30 s, with random jitter.
///
/// Only two sides take part in a room. Two programs to which an address gives the same role in one room overwrite each
/// other's documents; of those without a role that start at once, the first to write its offer becomes the host.
public final class FirestoreClient: SignallingClient {
  /// The events, in order, until `leave()`.
  public let events: SignallingEvents
  public let address: FirestoreAddress

  public var capabilities: SignallingCapabilities { address.capabilities }

  private let options: Options
  private let logger: Logger
  private let group: any EventLoopGroup
  private let store: FirestoreStore
  private let inbox: SignallingEventBuffer
  private let state = Mutex(State())

  private struct State {
    var session: FirestoreSession?
    var task: Task<Void, Never>?
    var isClosed = false
  }

  /// Creates a client that is not connected yet.
  public init(
    address: FirestoreAddress, options: Options = Options(), logger: Logger = Logger(label: "firestore.client"),
    on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
  ) throws(SignallingConnectError) {
    self.address = address
    self.options = options
    self.logger = logger
    self.group = group
    do {
      store = try FirestoreStore(address.database, options.store, on: group)
    } catch {
      throw .invalidConfiguration(error.description)
    }
    (events, inbox) = SignallingEventBuffer.make(limit: options.maximumWaitingEvents)
  }

  deinit {
    inbox.finish()
    store.close()
  }

  /// Finds the room, deletes documents that a former program left behind, and begins to poll; the first event is
  /// `joined`.
  ///
  /// - Throws: if the database cannot be reached or used. The client does not retry then, and `connect` may be called
  ///   again.
  public func connect() async throws(SignallingConnectError) {
    guard state.withLock({ !$0.isClosed && $0.task == nil }) else { return }
    let joiner = FirestoreJoiner(store: store, address: address, timing: options.layoutTiming)
    let (layout, cleared) = try await withTimeout(options.joinTimeout) { () async throws(SignallingConnectError) in
      try await joiner.join()
    }
    let session = FirestoreSession(
      layout: layout, cleared: cleared, store: store, options: options, logger: logger, group: group, inbox: inbox)
    let isWanted = state.withLock { state in
      if state.isClosed || state.task != nil { return false }
      state.session = session
      state.task = Task { await session.run() }
      return true
    }
    if !isWanted { try? await session.clear() }
  }

  /// Sends a message to the other side. It is discarded if it fits no connection in progress.
  public func send(_ message: SignallingMessage, to participant: ParticipantID) {
    let session = state.withLock { $0.isClosed ? nil : $0.session }
    guard let session else {
      return logger.debug("A signal is discarded, because the client is not connected.")
    }
    session.send(message, to: participant)
  }

  /// Deletes our documents, which ends the call for the other side, ends `events`, and returns when the server has
  /// confirmed that, after `Options.leaveTimeout` at the latest.
  public func leave() async {
    let (session, task) = state.withLock { state in
      state.isClosed = true
      return (state.session, state.task)
    }
    inbox.finish()
    session?.close()
    if let task {
      let (ended, continuation) = AsyncStream.makeStream(of: Void.self)
      let waiter = Task {
        await task.value
        continuation.finish()
      }
      let limit = options.leaveTimeout
      let timer = Task { [group] in
        try? await group.any().sleep(for: limit)
        continuation.finish()
      }
      for await _ in ended {}
      waiter.cancel()
      timer.cancel()
    }
    store.close()
  }

  /// Runs an operation and throws when it takes too long; the operation is then cancelled and ends unobserved.
  private func withTimeout<Value: Sendable>(
    _ limit: Duration, _ operation: @escaping @Sendable () async throws(SignallingConnectError) -> Value
  ) async throws(SignallingConnectError) -> Value {
    let promise = group.any().makePromise(of: Value.self)
    let timer = promise.futureResult.eventLoop.scheduleTask(in: TimeAmount(limit)) {
      promise.fail(SignallingConnectError.unreachable("Firestore could not be joined within \(limit)."))
    }
    let task = Task {
      do throws(SignallingConnectError) {
        promise.succeed(try await operation())
      } catch {
        promise.fail(error)
      }
    }
    defer {
      timer.cancel()
      task.cancel()
    }
    do {
      return try await promise.futureResult.get()
    } catch {
      throw error as? SignallingConnectError ?? .unreachable("\(error)")
    }
  }
}
