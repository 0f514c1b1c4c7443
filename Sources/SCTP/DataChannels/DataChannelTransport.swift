package import Media
package import NIOCore

/// The data channels of a peer connection (RFC 8831 and 8832) on one SCTP association.
///
/// It is used as ``SCTPAssociation`` is: after each call and each datagram, take the events until there is none, then the
/// packets; call ``takePackets(now:)`` again at ``deadline``.
package struct DataChannelTransport: Sendable {
  /// Which side sent the ClientHello: it opens channels with even ids, the other side those with odd ones (RFC 8832, 6).
  package enum Role: Sendable, Hashable {
    case dtlsClient
    case dtlsServer
  }

  package static let maximumChannels = 256

  package let role: Role
  package internal(set) var association: SCTPAssociation
  package internal(set) var counters = DataChannelCounters()
  var channels: [UInt16: DataChannel] = [:]
  var events = CircularBuffer<DataChannelEvent>()
  var isConnected = false

  package init(
    role: Role, options: SCTPAssociation.Options = .init(),
    generator: some RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(), now: MonotonicInstant
  ) {
    self.role = role
    association = SCTPAssociation(options: options, generator: generator, now: now)
  }

  /// Begins to set up the association; call it when DTLS is established, on both sides.
  package mutating func connect(now: MonotonicInstant) {
    association.connect(now: now)
  }

  package subscript(id: UInt16) -> DataChannel? { channels[id] }
  package var openChannels: [DataChannel] { channels.values.sorted { $0.id < $1.id } }

  /// The bytes of a channel's messages that were not sent even once.
  package func bufferedAmount(of id: UInt16) -> Int { association.bufferedAmount(of: id) }

  package mutating func setBufferedAmountLowThreshold(_ bytes: Int, of id: UInt16) {
    channels[id]?.bufferedAmountLowThreshold = max(0, bytes)
  }

  /// Opens a channel and announces it to the peer. Messages can be sent at once.
  ///
  /// - Returns: its id, the lowest free one of this side.
  package mutating func open(
    _ configuration: DataChannelConfiguration, now: MonotonicInstant
  ) throws(DataChannelError) -> UInt16 {
    try check(configuration)
    let first: UInt16 = role == .dtlsClient ? 0 : 1
    guard let id = stride(from: first, to: .max, by: 2).first(where: { channels[$0] == nil }) else {
      throw .tooManyChannels(limit: Self.maximumChannels)
    }
    var payload = ByteBuffer()
    DataChannelControlMessage.open(configuration).write(into: &payload)
    do {
      try association.send(payload, stream: id, protocolID: DataChannelProtocolID.control, now: now)
    } catch {
      throw .notSent(error)
    }
    channels[id] = DataChannel(id: id, configuration: configuration, state: .opening)
    return id
  }

  /// Opens a channel of which the peer knows by other means: nothing is announced.
  package mutating func openNegotiated(
    _ configuration: DataChannelConfiguration, id: UInt16
  ) throws(DataChannelError) {
    try check(configuration)
    guard id < .max else { throw .invalidID(id) }
    guard channels[id] == nil else { throw .idInUse(id) }
    channels[id] = DataChannel(id: id, configuration: configuration, state: isConnected ? .open : .opening)
    if isConnected { events.append(.opened(id)) } else { negotiated.insert(id) }
  }

  /// Negotiated channels that open with the association.
  var negotiated: Set<UInt16> = []

  private func check(_ configuration: DataChannelConfiguration) throws(DataChannelError) {
    guard channels.count < Self.maximumChannels else { throw .tooManyChannels(limit: Self.maximumChannels) }
    let longest = max(configuration.label.utf8.count, configuration.subprotocol.utf8.count)
    guard longest <= DataChannelControlMessage.maximumNameBytes else {
      throw .nameTooLong(bytes: longest, limit: DataChannelControlMessage.maximumNameBytes)
    }
  }

  package mutating func send(
    _ message: DataChannelMessage, on id: UInt16, now: MonotonicInstant
  ) throws(DataChannelError) {
    guard let channel = channels[id] else { throw .unknownChannel(id) }
    guard channel.state != .closing else { throw .closing(id) }
    let (protocolID, payload) = message.encoded
    // Until the peer knows the channel, its messages must not overtake the announcement (RFC 8832, 6).
    let options = channel.configuration.sendOptions(isOrdered: channel.state == .opening)
    do {
      try association.send(payload, stream: id, protocolID: protocolID, options: options, now: now)
    } catch {
      throw .notSent(error)
    }
    channels[id]?.messagesSent += 1
    channels[id]?.bytesSent += payload.readableBytes
    if association.bufferedAmount(of: id) > channel.bufferedAmountLowThreshold { channels[id]?.isAboveThreshold = true }
  }

  /// Closes a channel after its messages are sent; ``DataChannelEvent/closed(_:)`` follows.
  package mutating func close(_ id: UInt16, now: MonotonicInstant) {
    guard let channel = channels[id], channel.state != .closing else { return }
    channels[id]?.state = .closing
    association.resetStream(id, now: now)
  }

  /// Ends the association after all messages are delivered.
  package mutating func shutdown(now: MonotonicInstant) {
    association.shutdown(now: now)
  }

  package mutating func abort(now: MonotonicInstant) {
    association.abort(now: now)
  }

  package var deadline: MonotonicInstant? { association.deadline }

  /// Handles a decrypted datagram.
  package mutating func receive(_ datagram: ByteBuffer, now: MonotonicInstant) {
    association.receive(datagram, now: now)
  }

  /// Acts on expired timers and returns the packets to send now, in order.
  package mutating func takePackets(now: MonotonicInstant) -> [ByteBuffer] {
    let packets = association.takePackets(now: now)
    for id in channels.keys {
      guard let channel = channels[id], channel.isAboveThreshold,
        association.bufferedAmount(of: id) <= channel.bufferedAmountLowThreshold
      else { continue }
      channels[id]?.isAboveThreshold = false
      guard !channel.isLowReported else { continue }
      channels[id]?.isLowReported = true
      events.append(.bufferedAmountLow(id))
    }
    return packets
  }
}
