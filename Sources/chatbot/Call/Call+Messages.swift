import BotPeer
import Logging
import Media
import Room

/// Chat and files of a call.
extension Call {
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
