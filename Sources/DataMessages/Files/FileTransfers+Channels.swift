package import Media
package import NIOCore

// Channels with the subprotocol `skyrtc-file`, each of which carries one file.
extension FileTransfers {
  /// A channel of the subprotocol is open.
  ///
  /// - Parameters:
  ///   - label: the `sendId` of its transfer.
  ///   - isOpenedByPeer: false for the channel of an `openChannel`.
  package mutating func channelOpened(
    _ channel: UInt16, label: String, isOpenedByPeer: Bool, now: MonotonicInstant
  ) {
    // Ids of transfers are ASCII: other labels are not compared with them.
    let isUsable =
      label.utf8.count <= DataMessageLimits.maximumSendIDBytes && label.utf8.allSatisfy { $0 < 0x80 }
      && !isKnown(channel)
    if isUsable, isOpenedByPeer,
      let index = incoming.firstIndex(where: {
        $0.state == .receiving && $0.receiver.isBinary && $0.channel == nil && $0.sendID == label
      })
    {
      incoming[index].channel = channel
    } else if isUsable, !isOpenedByPeer,
      let index = outgoing.firstIndex(where: { $0.sender.state == .openingChannel && $0.sendID == label })
    {
      outgoing[index].channel = channel
      withOutgoing(label, now: now) { $0.channelOpened(now: now) }
    } else {
      if isOpenedByPeer { counters.channelsClosed &+= 1 }
      actions.append(.closeChannel(channel))
    }
  }

  /// The channel of an `openChannel` could not be opened.
  package mutating func channelNotOpened(label: String, reason: String, now: MonotonicInstant) {
    guard outgoingState(label) == .openingChannel else { return }
    withOutgoing(label, now: now) { $0.fail(.channelNotOpened(reason: reason)) }
  }

  /// A channel was closed by the peer, or has been closed by a `closeChannel`.
  package mutating func channelClosed(_ channel: UInt16, now: MonotonicInstant) {
    closing.removeAll { $0.channel == channel }
    if let index = incoming.firstIndex(where: { $0.channel == channel }) {
      // A complete file is stored although its sender does not wait for the answer.
      incoming[index].channel = nil
      if incoming[index].state == .receiving {
        withIncoming(incoming[index].sendID, now: now) { $0.fail(.channelClosed) }
      }
    } else if let sendID = outgoing.first(where: { $0.channel == channel })?.sendID {
      withOutgoing(sendID, now: now) { $0.fail(.channelClosed) }
    }
  }

  /// Reports the bytes that wait on a channel: after a `sendBinary`, and when they fall to the threshold.
  package mutating func bufferedAmountChanged(_ amount: Int, of channel: UInt16, now: MonotonicInstant) {
    guard let sendID = outgoing.first(where: { $0.channel == channel })?.sendID else { return }
    withOutgoing(sendID, now: now) { $0.bufferedAmountChanged(amount, now: now) }
  }

  package mutating func received(_ bytes: ByteBuffer, on channel: UInt16, now: MonotonicInstant) {
    guard let sendID = incoming.first(where: { $0.channel == channel && $0.state == .receiving })?.sendID else {
      return ignoreMessage()
    }
    withIncoming(sendID, now: now) { $0.receive(bytes, now: now) }
  }

  package mutating func received(text: String, on channel: UInt16, now: MonotonicInstant) {
    if let sendID = incoming.first(where: { $0.channel == channel && $0.state == .receiving })?.sendID {
      withIncoming(sendID, now: now) { $0.receive(text: text, now: now) }
    } else if let sendID = outgoing.first(where: { $0.channel == channel })?.sendID {
      withOutgoing(sendID, now: now) { $0.receive(text: text) }
    } else {
      ignoreMessage()
    }
  }

  private func isKnown(_ channel: UInt16) -> Bool {
    incoming.contains { $0.channel == channel } || outgoing.contains { $0.channel == channel }
      || closing.contains { $0.channel == channel }
  }
}
