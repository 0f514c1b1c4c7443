internal import Media
internal import NIOCore
package import SCTP

/// Data channels.
extension PeerConnection {
  /// Opens a channel, now or when the participant is connected.
  ///
  /// - Parameter token: names the request in the action that answers it.
  package func openDataChannel(_ configuration: DataChannelConfiguration, token: Int, now: ContinuousClock.Instant) {
    channels.open(configuration, token: token, now: MonotonicInstant(now))
  }

  /// Sends a message on a channel.
  package func send(_ message: DataChannelMessage, on channel: UInt16, now: ContinuousClock.Instant) {
    channels.send(message, on: channel, now: MonotonicInstant(now))
  }

  /// Closes a channel after its messages were sent.
  package func closeDataChannel(_ channel: UInt16, now: ContinuousClock.Instant) {
    channels.close(channel, now: MonotonicInstant(now))
  }

  /// Stops or continues to read messages. While it is stopped, the participant can send only as much as the association
  /// stores.
  package func setDataReadingPaused(_ isPaused: Bool) {
    if channels.isReadingPaused != isPaused { channels.setReadingPaused(isPaused) }
  }

  /// Passes the data of received DTLS records to the channels.
  func receiveData(now: MonotonicInstant) {
    for record in secure.takeData() {
      // Data of the participant shows that they are there, as media does.
      timing.lastMediaArrival = now
      channels.receive(record, now: now)
    }
  }

  /// Sends what the channels have to send, and reports what happened.
  func pollDataChannels(now: MonotonicInstant) {
    guard channels.isDue(now: now) else {
      if channels.isBusy { channels.updateBusy(now: now) }
      return
    }
    if path != nil, secure.isSecured {
      let packets = channels.poll(now: now)
      if !packets.isEmpty {
        secure.send(packets)
        transmit(secure.takeDatagrams())
      }
    }
    reportDataChannels(now: now)
  }

  func reportDataChannels(now: MonotonicInstant) {
    for action in channels.takeActions() { actions.append(.dataChannel(action)) }
    for problem in channels.takeProblems() { reportProblem(problem, now: now.instant) }
  }
}
