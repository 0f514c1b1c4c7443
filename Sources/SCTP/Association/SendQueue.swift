import Media
import NIOCore

/// The messages that wait to be sent, with a queue for each stream. Streams take turns, message by message.
///
/// The fragments of a message have consecutive TSNs (RFC 9260, 6.9), so a message that was begun is finished before any
/// other.
struct SendQueue: Sendable {
  private struct Stream: Sendable {
    var nextSequenceNumber: UInt16 = 0
    var messages = CircularBuffer<OutgoingMessage>()
    var bytes = 0
    var reset = ResetState.none
  }

  private enum ResetState: Sendable {
    case none
    /// The reset is requested when the queue is empty.
    case wanted
    /// The peer's response is awaited.
    case requested
  }

  private struct Current: Sendable {
    let stream: UInt16
    var message: OutgoingMessage
  }

  private var streams: [UInt16: Stream] = [:]
  /// The streams with messages, in the order of their turns.
  private var turns = CircularBuffer<UInt16>()
  private var current: Current?
  private var nextMessage: UInt64 = 0
  private var messageCount = 0
  /// The bytes of all streams that are not sent yet.
  private(set) var bytes = 0
  /// The number of messages whose lifetime ended before they were sent.
  private(set) var expired = 0
  /// The streams that wait for their queue to be empty, or for the request to be sent.
  private var resetsWanted: [UInt16] = []

  var isEmpty: Bool { messageCount == 0 }

  func bufferedBytes(of stream: UInt16) -> Int { streams[stream]?.bytes ?? 0 }

  mutating func append(
    _ payload: ByteBuffer, stream: UInt16, protocolID: UInt32, options: SCTPSendOptions, limit: Int,
    now: MonotonicInstant
  ) throws(SCTPSendError) {
    guard bytes + payload.readableBytes <= limit, messageCount < SCTPLimits.maximumQueuedMessages else {
      throw .bufferFull(limit: limit)
    }
    var entry = streams[stream] ?? Stream()
    guard entry.reset == .none else { throw .streamIsResetting(stream) }
    if streams[stream] == nil, streams.count >= SCTPLimits.maximumStreams {
      throw .tooManyStreams(limit: SCTPLimits.maximumStreams)
    }
    streams[stream] = nil
    if entry.messages.isEmpty { turns.append(stream) }
    entry.messages.append(
      OutgoingMessage(
        reliability: .init(
          message: nextMessage, expiry: options.lifetime.map { now + $0 },
          maximumRetransmissions: options.maximumRetransmissions),
        protocolID: protocolID, isUnordered: options.isUnordered, rest: payload))
    entry.bytes += payload.readableBytes
    streams[stream] = entry
    bytes += payload.readableBytes
    messageCount += 1
    nextMessage += 1
  }

  /// Returns the next chunk, without its TSN.
  ///
  /// - Parameters:
  ///   - space: the maximum bytes of payload.
  ///   - fullSpace: the maximum in an empty packet. A message that is larger than `space` waits for an empty packet.
  mutating func next(
    space: Int, fullSpace: Int, now: MonotonicInstant
  ) -> (chunk: DataChunk, reliability: OutgoingMessage.Reliability)? {
    guard selectMessage(now: now), var entry = current else { return nil }
    let left = entry.message.rest.readableBytes
    guard space > 0, left <= space || space >= fullSpace else { return nil }
    current = nil
    let isFirst = !entry.message.isStarted
    if isFirst {
      entry.message.isStarted = true
      if !entry.message.isUnordered {
        entry.message.streamSequenceNumber = streams[entry.stream]?.nextSequenceNumber ?? 0
        streams[entry.stream]?.nextSequenceNumber &+= 1
      }
    }
    let payload = entry.message.rest.readSlice(length: min(left, space)) ?? ByteBuffer()
    var chunk = DataChunk(
      tsn: 0, stream: entry.stream, streamSequenceNumber: entry.message.streamSequenceNumber,
      protocolID: entry.message.protocolID, payload: payload)
    chunk.isUnordered = entry.message.isUnordered
    chunk.isFirst = isFirst
    chunk.isLast = left <= space
    sent(payload.readableBytes, of: entry.stream)
    if chunk.isLast { messageCount -= 1 } else { current = entry }
    return (chunk, entry.message.reliability)
  }

  /// Discards what was not sent of an abandoned message of which a part was sent; returns its last chunk, empty, which
  /// exists only so that the message ends with a TSN that the peer can skip.
  mutating func discardRest(of message: UInt64) -> DataChunk? {
    guard let entry = current, entry.message.reliability.message == message, entry.message.isStarted else { return nil }
    current = nil
    messageCount -= 1
    sent(entry.message.rest.readableBytes, of: entry.stream)
    var chunk = DataChunk(
      tsn: 0, stream: entry.stream, streamSequenceNumber: entry.message.streamSequenceNumber,
      protocolID: entry.message.protocolID, payload: ByteBuffer())
    chunk.isUnordered = entry.message.isUnordered
    chunk.isFirst = false
    return chunk
  }

  mutating func removeAll() {
    self = SendQueue()
  }

  /// Makes a message the current one, unless one is; returns false if all queues are empty.
  private mutating func selectMessage(now: MonotonicInstant) -> Bool {
    if let entry = current {
      guard !entry.message.isStarted, entry.message.reliability.hasExpired(now: now) else { return true }
      current = nil
      expire(entry.message, of: entry.stream)
    }
    while let stream = turns.popFirst() {
      var selected: OutgoingMessage?
      while selected == nil, let message = streams[stream]?.messages.popFirst() {
        if message.reliability.hasExpired(now: now) { expire(message, of: stream) } else { selected = message }
      }
      if streams[stream]?.messages.isEmpty == false { turns.append(stream) }
      if let selected {
        current = Current(stream: stream, message: selected)
        return true
      }
    }
    return false
  }

  private mutating func expire(_ message: OutgoingMessage, of stream: UInt16) {
    expired += 1
    messageCount -= 1
    sent(message.rest.readableBytes, of: stream)
  }

  private mutating func sent(_ count: Int, of stream: UInt16) {
    streams[stream]?.bytes -= count
    bytes -= count
  }
}

// MARK: Stream reset

extension SendQueue {
  /// Requests that a stream is reset once its messages are sent; no further message is accepted until then.
  ///
  /// - Returns: false if that has already been requested, or if too many streams are in use.
  mutating func wantReset(of stream: UInt16) -> Bool {
    guard streams[stream] != nil || streams.count < SCTPLimits.maximumStreams else { return false }
    var entry = streams[stream] ?? Stream()
    guard entry.reset == .none else { return false }
    entry.reset = .wanted
    streams[stream] = entry
    resetsWanted.append(stream)
    return true
  }

  var hasResetsWanted: Bool { !resetsWanted.isEmpty }

  /// Returns streams whose messages have all been sent and that are to be reset now.
  mutating func takeResets() -> [UInt16] {
    let started = current?.stream
    let ready = resetsWanted.filter { $0 != started && streams[$0]?.messages.isEmpty != false }
      .prefix(SCTPLimits.maximumResetStreams)
    guard !ready.isEmpty else { return [] }
    let taken = Set(ready)
    resetsWanted.removeAll { taken.contains($0) }
    for stream in ready { streams[stream]?.reset = .requested }
    return Array(ready)
  }

  /// The peer has answered: the streams begin again at sequence number 0, or continue if the reset was not performed.
  mutating func resetAnswered(_ reset: [UInt16], isPerformed: Bool) {
    for stream in reset {
      if isPerformed { streams[stream] = nil } else { streams[stream]?.reset = .none }
    }
  }
}
