internal import BotPeer
internal import Logging
internal import Media
internal import NIOCore
internal import Recorder
internal import RoomMessages

/// Chat and files of a call.
extension RoomCall {
  /// Opens the files to offer and the folder of received files.
  static func openMessages(
    _ settings: Settings, _ chat: ChatRecorder?, _ participants: ParticipantRegistry,
    _ observer: (any RoomCallObserver)?, on loop: any EventLoop, log: Logger
  ) throws(FileError) -> RoomMessages {
    do {
      return try RoomMessages(
        settings.messages, loopbackDelay: settings.media.loopbackDelay, recordings: settings.recording?.folder,
        chat: chat, on: loop, log: log,
        noted: { message in
          let sender = message.isOurs ? participants.ownID?.text ?? "" : message.user.text
          observer?.exchanged(
            ChatMessage(user: message.user, sender: sender, name: message.name, text: message.text.string), at: .now)
        },
        name: { participants.announcement(of: $0)?.name })
    } catch {
      throw FileError(error)
    }
  }

  /// Serves the data channels until the peer is closed.
  func serveDataChannels() async {
    await withDiscardingTaskGroup { group in
      for await channel in peer.dataChannels {
        log.debug(
          "data channel",
          metadata: [
            "user": "\(channel.participant)", "label": "\(channel.configuration.label.printable(utf8Bytes: 64))",
          ])
        group.addTask { await self.messages.serve(channel, of: self.peer) }
      }
    }
  }
}
