import BotPeer
import Logging
import Media
import Room
import RoomMessages

/// Chat and files of a call.
extension Call {
  /// Reads what will be said, and opens the files to offer and the folder of received files.
  func openMessages(
    chat: ChatRecorder?, participantRegistry: ParticipantRegistry
  ) throws(CallFailure) -> RoomMessages {
    var messages = plan.messages
    messages.texts += try MessageOptions.texts(in: plan.sayFile)
    do {
      return try RoomMessages(
        messages, loopbackDelay: plan.loopback ? plan.delay : nil, recordings: plan.record, chat: chat,
        on: MediaThread.loop, log: log,
        noted: { [observer] message in
          let sender = message.isOurs ? participantRegistry.ownID?.text ?? "" : message.user.text
          observer?.exchanged(message, from: sender, at: .now)
        },
        name: { participantRegistry.announcement(of: $0)?.name })
    } catch {
      throw CallFailure(error)
    }
  }

  /// Serves the data channels until the peer is closed.
  func serveDataChannels(_ parts: Parts) async {
    await withDiscardingTaskGroup { group in
      for await channel in parts.session.peer.dataChannels {
        log.debug(
          "data channel",
          metadata: [
            "user": "\(channel.participant)", "label": "\(channel.configuration.label.printable(utf8Bytes: 64))",
          ])
        group.addTask { await parts.messages.serve(channel, of: parts.session.peer) }
      }
    }
  }
}
