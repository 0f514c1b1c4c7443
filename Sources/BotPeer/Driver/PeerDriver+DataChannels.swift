internal import Media
internal import NIOCore
internal import PeerEngine
internal import SCTP
internal import Synchronization

/// The commands of data channels, which arrive from any thread.
extension PeerDriver {
  /// Makes the commands of a participant's channels.
  static func commands(
    _ driver: NIOLoopBound<PeerDriver>, on loop: any EventLoop, participant: ParticipantID
  ) -> DataChannel.Commands {
    DataChannel.Commands(
      send: { message, id in loop.execute { driver.value.send(message, on: id, of: participant) } },
      close: { id in loop.execute { driver.value.close(id, of: participant) } },
      resume: { messages in loop.execute { driver.value.resume(messages, of: participant) } })
  }

  /// Opens a channel that a caller has made.
  func open(_ channel: DataChannel) {
    let token = Self.nextToken.wrappingAdd(1, ordering: .relaxed).oldValue
    channels.request(channel, token: token)
    turn { $0.openDataChannel(channel.configuration, to: channel.participant, token: token, now: $1) }
  }

  /// The number of the next request for a channel, unique in the process.
  private static let nextToken = Atomic(0)

  private func send(_ message: DataChannelMessage, on id: UInt16, of participant: ParticipantID) {
    guard let channel = channels[participant, id] else { return }
    channel.didHandOver(message.byteCount)
    turn { demultiplexer, now in demultiplexer.withEngine(of: participant) { $0.send(message, on: id, now: now) } }
  }

  private func close(_ id: UInt16, of participant: ParticipantID) {
    turn { demultiplexer, now in demultiplexer.withEngine(of: participant) { $0.closeDataChannel(id, now: now) } }
  }

  private func resume(_ messages: ObjectIdentifier, of participant: ParticipantID) {
    channels.resumed(participant, messages)
    guard !channels.isPaused(participant) else { return }
    turn { demultiplexer, _ in demultiplexer.withEngine(of: participant) { $0.setDataReadingPaused(false) } }
  }
}
