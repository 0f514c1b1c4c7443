package import Media

/// All file transfers with one participant. Pure: messages, events of channels, bytes of files and `now` in;
/// ``FileTransferAction``s out.
///
/// After each call, the owner takes and carries out the actions, and calls `advance` at the deadline. A channel is
/// known by its id (its SCTP stream).
package struct FileTransfers: Sendable {
  package struct Configuration: Sendable, Hashable {
    package var policy: FilePolicy
    /// Whether the files that we offer can be sent in the binary mode.
    package var offersBinary: Bool
    /// The maximum size of a message that the peer receives (`a=max-message-size`, RFC 8841); 0 means any.
    package var maximumMessageBytes: Int

    package init(policy: FilePolicy, offersBinary: Bool = true, maximumMessageBytes: Int = 65_536) {
      self.policy = policy
      self.offersBinary = offersBinary
      self.maximumMessageBytes = maximumMessageBytes
    }
  }

  /// What was dropped because it does not belong to a transfer.
  package struct Counters: Sendable, Hashable {
    /// Messages about no transfer in progress, or not possible in its state.
    package var messagesIgnored: UInt64 = 0
    package var offersRefused: UInt64 = 0
    /// Channels that the peer opened for no transfer; they are closed.
    package var channelsClosed: UInt64 = 0
  }

  /// A file that the peer sends.
  struct Incoming: Sendable {
    enum State: Sendable, Hashable {
      /// The owner creates the file; the offer is not answered yet.
      case creating
      case receiving
      /// The owner stores the complete file.
      case storing
    }

    let id: FileTransferID
    let name: FileName
    var receiver: FileReceiver
    var state = State.creating
    var channel: UInt16?
    var sendID: String { receiver.offer.sendID }
  }

  /// A file that we send.
  struct Outgoing: Sendable {
    let id: FileTransferID
    var sender: FileSender
    var channel: UInt16?
    var sendID: String { sender.offer.sendID }
  }

  package var configuration: Configuration
  package internal(set) var counters = Counters()
  var incoming: [Incoming] = []
  var outgoing: [Outgoing] = []
  /// Acceptable offers that wait until a transfer ends.
  var waiting: [FileOffer] = []
  /// Channels of completely received files, and until when their senders may close them.
  var closing: [(channel: UInt16, until: MonotonicInstant)] = []
  /// The bytes of incoming transfers that have ended.
  var endedBytes: Int64 = 0
  var actions: [FileTransferAction] = []
  private var lastNumber: UInt64 = 0

  package init(_ configuration: Configuration) {
    self.configuration = configuration
  }

  /// The number of transfers in progress, in both directions.
  package var count: Int { incoming.count + outgoing.count }

  /// Removes and returns the actions, in order.
  package mutating func takeActions() -> [FileTransferAction] {
    defer { actions = [] }
    return actions
  }

  mutating func newID() -> FileTransferID {
    lastNumber += 1
    return FileTransferID(number: lastNumber)
  }

  // MARK: Time

  /// When `advance` must be called; nil if nothing is due.
  package var deadline: MonotonicInstant? {
    let receiving = incoming.lazy.filter { $0.state == .receiving }.compactMap(\.receiver.deadline).min()
    let sending = outgoing.lazy.compactMap(\.sender.deadline).min()
    return [receiving, sending, closing.lazy.map(\.until).min()].compactMap(\.self).min()
  }

  /// Sends the chunks that are due, and ends what stands still.
  ///
  /// - Parameter mainBufferedAmount: the bytes that wait to be sent on the main channel.
  package mutating func advance(now: MonotonicInstant, mainBufferedAmount: Int = 0) {
    for sendID in outgoing.map(\.sendID) {
      withOutgoing(sendID, now: now) { $0.advance(now: now, mainBufferedAmount: mainBufferedAmount) }
    }
    for sendID in incoming.lazy.filter({ $0.state == .receiving }).map(\.sendID) {
      withIncoming(sendID, now: now) { $0.advance(now: now) }
    }
    for (channel, until) in closing where until <= now { actions.append(.closeChannel(channel)) }
    closing.removeAll { $0.until <= now }
  }

  // MARK: Messages of the main channel

  /// Handles a message. Chat is ignored.
  package mutating func receive(_ message: DataMessage, now: MonotonicInstant) {
    switch message {
    case .chat, .fileClosed(nil): break
    case .fileOffer(let offer): received(offer, now: now)
    case .fileAccepted(let sendID, let isBinary):
      guard outgoingState(sendID) == .offered else { return ignoreMessage() }
      withOutgoing(sendID, now: now) { $0.accepted(isBinary: isBinary, now: now) }
    case .fileRefused(let sendID):
      guard outgoingState(sendID) == .offered else { return ignoreMessage() }
      withOutgoing(sendID, now: now) { $0.refused() }
    case .fileChunk(let chunk):
      guard incomingState(chunk.sendID) == .receiving else { return ignoreMessage() }
      withIncoming(chunk.sendID, now: now) { $0.receive(chunk, now: now) }
    case .fileClosed(let sendID?): closedByPeer(sendID, now: now)
    }
  }

  private mutating func closedByPeer(_ sendID: String, now: MonotonicInstant) {
    if let index = waiting.firstIndex(where: { $0.sendID == sendID }) {
      waiting.remove(at: index)
    } else if let state = incomingState(sendID), state != .storing {
      withIncoming(sendID, now: now) { $0.fail(.cancelledByPeer) }
    } else if outgoingState(sendID) != nil {
      withOutgoing(sendID, now: now) { $0.fail(.cancelledByPeer) }
    } else {
      ignoreMessage()
    }
  }

  func incomingState(_ sendID: String) -> Incoming.State? {
    incoming.first { $0.sendID == sendID }?.state
  }

  func outgoingState(_ sendID: String) -> FileSender.State? {
    outgoing.first { $0.sendID == sendID }?.sender.state
  }

  mutating func ignoreMessage() {
    counters.messagesIgnored &+= 1
  }

  // MARK: Ends

  /// Cancels a transfer. A receiver of chunks cannot tell the sender, whose further chunks are ignored.
  package mutating func cancel(_ id: FileTransferID, now: MonotonicInstant) {
    fail(id, .cancelled, now: now)
  }

  /// The connection to the participant, or the main channel, has ended: all transfers fail.
  package mutating func disconnected(now: MonotonicInstant) {
    waiting = []
    for id in incoming.map(\.id) + outgoing.map(\.id) { fail(id, .disconnected, now: now) }
    for (channel, _) in closing { actions.append(.closeChannel(channel)) }
    closing = []
    // Nothing can be sent any more.
    actions.removeAll { action in
      switch action {
      case .send, .sendText, .sendBinary, .openChannel: true
      default: false
      }
    }
  }

  mutating func fail(_ id: FileTransferID, _ failure: FileTransferFailure, now: MonotonicInstant) {
    // Copies of a transfer are not kept while it changes: its digest would be copied as well.
    if let sendID = incoming.first(where: { $0.id == id })?.sendID {
      if incomingState(sendID) == .storing {
        endIncoming(sendID, .failed(failure), now: now)
      } else {
        withIncoming(sendID, now: now) { $0.fail(failure) }
      }
    } else if let sendID = outgoing.first(where: { $0.id == id })?.sendID {
      withOutgoing(sendID, now: now) { $0.fail(failure) }
    }
  }
}
