import BotPeer
import Media
import NIOPosix
import Recorder
import SkyRTC

/// Records everybody in a room for some seconds, then prints the paths of the recordings.
///
/// Usage: RecordRoom SERVER ROOM FOLDER SECONDS
@main
struct RecordRoom {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 5, let seconds = Int(arguments[4]) else {
      print("Usage: RecordRoom SERVER ROOM FOLDER SECONDS")
      return
    }
    let client = try SkyRTCClient(url: arguments[1], room: arguments[2])
    let recorder = try RoomRecorder(RoomRecorder.Configuration(folder: arguments[3], room: arguments[2]))
    let peer = try await Peer.start(Peer.Configuration(), on: MultiThreadedEventLoopGroup.singleton.next())
    try await client.connect()

    // The server's messages go to the peer.
    Task {
      for await event in client.events { peer.receive(event) }
    }
    Task {
      try await Task.sleep(for: .seconds(seconds))
      await peer.close(reason: "The time is over.")
    }

    // The peer's messages go to the server, and received media to the recorder.
    for await event in peer.events {
      let user = event.participant
      switch event.event {
      case .signal(let message): client.send(message, to: user)
      case .stateChanged(.connecting): recorder.begin(user)
      case .media(let media): recorder.receive(media, of: user, now: event.time)
      case .ended: recorder.end(user, reason: .left)
      default: break
      }
    }
    await client.leave()
    await recorder.finish()
    for await summary in recorder.summaries { print(summary.paths.joined(separator: "\n")) }
  }
}
