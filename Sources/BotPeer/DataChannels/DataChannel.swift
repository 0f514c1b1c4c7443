public import Media
internal import NIOCore
internal import PeerEngine
public import SCTP
internal import Synchronization

/// A data channel with a participant (RFC 8831), opened by either side.
///
/// ```swift
/// for await channel in peer.dataChannels {
///   Task {
///     for await message in channel.messages { try await channel.send(message) }
///   }
/// }
/// ```
///
/// ``messages`` must be read: when 1 MiB of a channel's messages waits, the participant cannot send on any channel until
/// it is read.
public final class DataChannel: Sendable {
  /// The state, with the names of `RTCDataChannelState`.
  public enum State: String, Sendable, Hashable {
    /// The participant is not connected, or has not acknowledged the channel yet. Messages can be sent.
    case connecting
    case open
    /// Either side has closed the channel; sent messages are still delivered.
    case closing
    case closed
  }

  public let participant: ParticipantID
  /// Label, subprotocol, order and reliability.
  public let configuration: DataChannelConfiguration
  public let isOpenedByParticipant: Bool
  /// The received messages; for one reader. It ends when the channel is closed.
  public let messages: DataChannelMessages

  private let commands: Commands
  private let shared: Mutex<Shared>

  /// What the event loop does for the channel, later: the commands return at once and do not call the channel.
  struct Commands: Sendable {
    /// Sends a message on the channel with an id.
    var send: @Sendable (DataChannelMessage, UInt16) -> Void
    var close: @Sendable (UInt16) -> Void
    /// Lets the participant send again after the messages with this identifier were read.
    var resume: @Sendable (ObjectIdentifier) -> Void
  }

  private struct Shared {
    var state = State.connecting
    var id: UInt16?
    var maximumMessageBytes: Int?
    /// Messages that were sent before the channel had an id.
    var waiting: [DataChannelMessage] = []
    /// The bytes that the event loop has not taken yet.
    var handedOver = 0
    /// The bytes that wait in the connection.
    var buffered = 0
    var isCloseRequested = false
    var reason: String?
    var senders: [(limit: Int, continuation: CheckedContinuation<Void, Never>)] = []

    var amount: Int { handedOver + buffered }

    /// Removes and returns the senders that need not wait any more.
    mutating func takeSenders() -> [CheckedContinuation<Void, Never>] {
      if senders.isEmpty { return [] }
      let (amount, isClosed) = (amount, state == .closed)
      let ready = senders.filter { isClosed || amount <= $0.limit }.map(\.continuation)
      senders.removeAll { isClosed || amount <= $0.limit }
      return ready
    }
  }

  /// The amount of data, in bytes, above which ``send(_:)`` waits.
  public static let bufferedAmountLimit = 1 << 20

  /// - Parameters:
  ///   - id: the stream id; nil if the channel has none yet.
  ///   - limits: what can be sent; nil if that is not known yet.
  init(
    _ participant: ParticipantID, _ configuration: DataChannelConfiguration, id: UInt16? = nil,
    limits: DataChannelLimits? = nil, isOpenedByParticipant: Bool = false, _ commands: Commands
  ) {
    self.participant = participant
    self.configuration = configuration
    self.isOpenedByParticipant = isOpenedByParticipant
    self.commands = commands
    messages = DataChannelMessages(resume: commands.resume)
    var shared = Shared()
    shared.id = id
    shared.maximumMessageBytes = limits?.maximumMessageBytes
    if isOpenedByParticipant { shared.state = .open }
    self.shared = Mutex(shared)
  }

  public var state: State { shared.withLock { $0.state } }

  /// Why the channel was closed or could not be opened, one sentence; nil if either side closed it in the usual way.
  public var closeReason: String? { shared.withLock { $0.reason } }

  /// The bytes of messages that were not sent even once.
  public var bufferedAmount: Int { shared.withLock { $0.amount } }

  /// The largest message that the participant accepts, in bytes; nil before the connection is established.
  public var maximumMessageBytes: Int? { shared.withLock { $0.maximumMessageBytes } }

  /// Sends a message, and waits while more than ``bufferedAmountLimit`` bytes are not sent yet.
  ///
  /// - Throws: ``SendError`` if the channel is closed or the message is too large.
  public func send(_ message: DataChannelMessage) async throws(SendError) {
    try enqueue(message)
    await bufferedAmountFalls(to: Self.bufferedAmountLimit)
  }

  /// Sends a message without waiting.
  ///
  /// - Throws: ``SendError`` if the channel is closed, the message is too large, or too many bytes wait already.
  public func enqueue(_ message: DataChannelMessage) throws(SendError) {
    let size = message.byteCount
    // The command is given under the lock, so that no message overtakes one that waited for the id.
    let outcome = shared.withLock { shared -> Result<Void, SendError> in
      guard shared.state != .closed, shared.state != .closing, !shared.isCloseRequested else {
        return .failure(.closed(shared.reason))
      }
      if let limit = shared.maximumMessageBytes, size > limit { return .failure(.tooLarge(bytes: size, limit: limit)) }
      guard shared.amount <= Self.maximumBufferedAmount else { return .failure(.bufferFull(bytes: shared.amount)) }
      shared.handedOver += size
      if let id = shared.id { commands.send(message, id) } else { shared.waiting.append(message) }
      return .success(())
    }
    try outcome.get()
  }

  /// The amount of data, in bytes, with which ``enqueue(_:)`` fails.
  private static let maximumBufferedAmount = 16 << 20

  /// Waits until at most this many bytes are not sent yet, or the channel is closed.
  public func bufferedAmountFalls(to limit: Int) async {
    await withCheckedContinuation { continuation in
      let mustWait = shared.withLock { shared in
        guard shared.state != .closed, shared.amount > limit else { return false }
        shared.senders.append((limit, continuation))
        return true
      }
      if !mustWait { continuation.resume() }
    }
  }

  /// Closes the channel after its messages are sent. Received messages that were not read are dropped.
  public func close() {
    shared.withLock { shared in
      guard shared.state != .closed, !shared.isCloseRequested else { return }
      shared.isCloseRequested = true
      if let id = shared.id {
        shared.state = .closing
        commands.close(id)
      }
    }
    messages.finish(discarding: true)
  }

  /// Why a message was not sent.
  public enum SendError: Error, Sendable, Hashable, CustomStringConvertible {
    case closed(String?)
    case tooLarge(bytes: Int, limit: Int)
    case bufferFull(bytes: Int)

    public var description: String {
      switch self {
      case .closed(let reason): "The data channel is closed." + (reason.map { " \($0)" } ?? "")
      case .tooLarge(let bytes, let limit):
        "The message has \(bytes) bytes, and the participant accepts \(limit)."
      case .bufferFull(let bytes): "\(bytes) bytes wait to be sent on the data channel already."
      }
    }
  }

  // MARK: The event loop's side

  /// The channel has a stream id: sends what was sent before.
  func didGetID(_ id: UInt16, maximumMessageBytes: Int) {
    shared.withLock { shared in
      shared.id = id
      shared.maximumMessageBytes = maximumMessageBytes
      for message in shared.waiting { commands.send(message, id) }
      shared.waiting = []
      if shared.isCloseRequested { commands.close(id) }
    }
  }

  func didOpen() { shared.withLock { if $0.state == .connecting, !$0.isCloseRequested { $0.state = .open } } }

  /// The connection has taken a message.
  func didHandOver(_ bytes: Int) {
    shared.withLock {
      $0.handedOver -= bytes
      $0.buffered += bytes
    }
  }

  func bufferedAmountChanged(to bytes: Int) {
    let ready = shared.withLock { shared in
      shared.buffered = bytes
      return shared.takeSenders()
    }
    for sender in ready { sender.resume() }
  }

  func didClose(because reason: String? = nil) {
    let ready = shared.withLock { shared in
      shared.state = .closed
      shared.reason = shared.reason ?? reason
      shared.waiting = []
      shared.handedOver = 0
      shared.buffered = 0
      return shared.takeSenders()
    }
    messages.finish(discarding: false)
    for sender in ready { sender.resume() }
  }
}

extension DataChannelMessage {
  /// The size of the payload in bytes.
  public var byteCount: Int {
    switch self {
    case .text(let text): text.utf8.count
    case .binary(let bytes): bytes.readableBytes
    }
  }
}
