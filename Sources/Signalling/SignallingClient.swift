public import Media

/// A connection to a signalling system: it announces participants, and carries their offers, answers and candidates.
///
/// A client reconnects by itself when it loses the server, with a jittered backoff, and rejoins. Calls in progress
/// continue meanwhile.
///
/// The `RoomSession` of the module `Room` connects it to a peer.
public protocol SignallingClient: Sendable {
  /// The events, in order, until ``leave()`` or ``SignallingEvent/closed(reason:)``. For one reader.
  var events: SignallingEvents { get }

  /// What the system can do. By default those of `SignallingCapabilities()`.
  var capabilities: SignallingCapabilities { get }

  /// Connects for the first time and joins. The first event is ``SignallingEvent/joined(id:others:)``, after any
  /// ``SignallingEvent/iceServers(_:)``.
  ///
  /// It does not retry: after an error it may be called again.
  func connect() async throws(SignallingConnectError)

  /// Sends a message to a participant. It returns at once, also if what it writes to is slow. A message that cannot be delivered is discarded.
  func send(_ message: SignallingMessage, to participant: ParticipantID)

  /// Tells the system that our connection to a participant has ended, where calls are between two participants and the
  /// system must know. No event follows. See ``SignallingCapabilities/requiresHangUpWhenClosedByParticipant``.
  func hangUp(_ participant: ParticipantID)

  /// Asks the server for a sign of life, and connects again if none comes: the path to a participant was lost, perhaps with the
  /// network that carries the signalling. It returns at once. By default it does nothing.
  func verifyConnection()

  /// Leaves the room, ends ``events`` and returns when the server knows, or after a time-out.
  func leave() async
}

extension SignallingClient {
  public var capabilities: SignallingCapabilities { SignallingCapabilities() }

  public func hangUp(_ participant: ParticipantID) {}

  public func verifyConnection() {}
}

/// The events of a ``SignallingClient``.
public struct SignallingEvents: AsyncSequence, Sendable {
  public typealias Element = SignallingEvent
  public typealias Failure = Never

  public struct AsyncIterator: AsyncIteratorProtocol {
    private var iterator: AsyncStream<SignallingEvent>.AsyncIterator

    fileprivate init(_ stream: AsyncStream<SignallingEvent>) { iterator = stream.makeAsyncIterator() }

    public mutating func next() async -> SignallingEvent? { await iterator.next() }

    public mutating func next(isolation actor: isolated (any Actor)?) async -> SignallingEvent? {
      await iterator.next(isolation: actor)
    }
  }

  private let stream: AsyncStream<SignallingEvent>

  public init(_ stream: AsyncStream<SignallingEvent>) {
    self.stream = stream
  }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(stream) }
}

/// Why a signalling system cannot be joined. Each description is one sentence.
public enum SignallingConnectError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The server cannot be reached; it may be later.
  case unreachable(String)
  /// The server responded, but does not speak the expected protocol or rejects the join.
  case rejected(String)
  /// The server rejects the credentials.
  case unauthorized(String)
  /// The configuration cannot be used, for example a file of certificates.
  case invalidConfiguration(String)

  public var description: String {
    switch self {
    case .unreachable(let sentence), .rejected(let sentence), .unauthorized(let sentence),
      .invalidConfiguration(let sentence):
      sentence
    }
  }
}
