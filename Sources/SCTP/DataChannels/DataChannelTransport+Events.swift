package import Media
import NIOCore

extension DataChannelTransport {
  /// Removes and returns the next event. It can cause packets: an acknowledgement, or the reset of a stream.
  package mutating func nextEvent(now: MonotonicInstant) -> DataChannelEvent? {
    while events.isEmpty, let event = association.nextEvent(now: now) { handle(event, now: now) }
    let event = events.popFirst()
    if case .bufferedAmountLow(let id)? = event { channels[id]?.isLowReported = false }
    return event
  }

  private mutating func handle(_ event: SCTPEvent, now: MonotonicInstant) {
    switch event {
    case .connected: connected()
    case .restarted:
      // The peer knows none of the channels any more.
      closeAll()
    case .message(let message): received(message, now: now)
    case .messageTooLarge(let stream): close(stream, now: now)
    case .incomingStreamsReset(let streams): incomingReset(streams ?? Array(channels.keys), now: now)
    case .outgoingStreamsReset(let streams):
      for stream in streams {
        channels[stream]?.isOutgoingReset = true
        finishClosing(stream)
      }
    case .streamResetRefused(let streams):
      for stream in streams { removeChannel(stream) }
    case .errorReported: break
    case .closed(let reason):
      closeAll()
      isConnected = false
      events.append(.disconnected(reason))
    }
  }

  private mutating func connected() {
    isConnected = true
    events.append(.connected)
    for id in negotiated.sorted() where channels[id]?.state == .opening { opened(id) }
    negotiated = []
  }

  private mutating func opened(_ id: UInt16) {
    channels[id]?.state = .open
    events.append(.opened(id))
  }

  private mutating func received(_ message: SCTPMessage, now: MonotonicInstant) {
    if message.protocolID == DataChannelProtocolID.control {
      controlReceived(message, now: now)
      return
    }
    guard let channel = channels[message.stream], !channel.isIncomingReset else {
      counters.messagesWithoutChannel += 1
      return
    }
    guard let content = DataChannelMessage(message) else {
      counters.unknownProtocolIDs += 1
      return
    }
    // A peer that uses the channel knows it, even if its acknowledgement is still on its way.
    if channel.state == .opening { opened(message.stream) }
    channels[message.stream]?.messagesReceived += 1
    channels[message.stream]?.bytesReceived += message.payload.readableBytes
    events.append(.message(message.stream, content))
  }

  private mutating func controlReceived(_ message: SCTPMessage, now: MonotonicInstant) {
    do {
      switch try DataChannelControlMessage(parsing: message.payload) {
      case .ack:
        if channels[message.stream]?.state == .opening {
          opened(message.stream)
        } else if channels[message.stream]?.state != .open {
          counters.invalidControlMessages += 1
        }
      case .open(let configuration): openReceived(configuration, id: message.stream, now: now)
      }
    } catch {
      counters.invalidControlMessages += 1
      if channels[message.stream] == nil { association.resetStream(message.stream, now: now) }
    }
  }

  private mutating func openReceived(_ configuration: DataChannelConfiguration, id: UInt16, now: MonotonicInstant) {
    guard channels[id] == nil else {
      counters.invalidControlMessages += 1
      return
    }
    guard channels.count < Self.maximumChannels, id < .max else {
      counters.channelsRefused += 1
      association.resetStream(id, now: now)
      return
    }
    channels[id] = DataChannel(id: id, configuration: configuration, state: .open)
    var payload = ByteBuffer()
    DataChannelControlMessage.ack.write(into: &payload)
    try? association.send(payload, stream: id, protocolID: DataChannelProtocolID.control, now: now)
    events.append(.openedByPeer(id, configuration))
  }

  /// The peer closed channels: this side closes them as well (RFC 8831, 6.7).
  private mutating func incomingReset(_ streams: [UInt16], now: MonotonicInstant) {
    for stream in streams where channels[stream] != nil {
      channels[stream]?.isIncomingReset = true
      close(stream, now: now)
      finishClosing(stream)
    }
  }

  private mutating func finishClosing(_ id: UInt16) {
    guard let channel = channels[id], channel.isOutgoingReset, channel.isIncomingReset else { return }
    removeChannel(id)
  }

  private mutating func removeChannel(_ id: UInt16) {
    guard channels.removeValue(forKey: id) != nil else { return }
    negotiated.remove(id)
    events.append(.closed(id))
  }

  private mutating func closeAll() {
    for id in channels.keys.sorted() { removeChannel(id) }
  }
}
