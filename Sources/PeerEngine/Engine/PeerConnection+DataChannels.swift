package import Media
package import SCTP

/// Data channels.
extension PeerConnection {
  /// Opens a channel, now or when the participant is connected.
  ///
  /// - Parameter token: names the request in the action that answers it.
  package func openDataChannel(_ configuration: DataChannelConfiguration, token: Int, now: MonotonicInstant) {
    channels.open(configuration, token: token, now: now)
  }

  /// Sends a message on a channel.
  package func send(_ message: DataChannelMessage, on channel: UInt16, now: MonotonicInstant) {
    channels.send(message, on: channel, now: now)
  }

  /// Closes a channel after its messages were sent.
  package func closeDataChannel(_ channel: UInt16, now: MonotonicInstant) {
    channels.close(channel, now: now)
  }

  /// Stops or continues to read messages. While it is stopped, the participant can send only as much as the association
  /// stores.
  package func setDataReadingPaused(_ isPaused: Bool) { channels.setReadingPaused(isPaused) }

  /// Sends what the channels have to send, and reports what happened.
  func pollDataChannels(now: MonotonicInstant) {
    let canSend = path != nil && secure.isSecured
    guard let packets = channels.poll(canSend: canSend, now: now) else { return }
    if !packets.isEmpty {
      secure.send(packets)
      transmit(secure.takeDatagrams())
    }
    reportDataChannels(now: now)
  }

  func reportDataChannels(now: MonotonicInstant) {
    for action in channels.takeActions() { actions.append(.dataChannel(action)) }
    for problem in channels.takeProblems() { reportProblem(problem, now: now) }
  }
}
