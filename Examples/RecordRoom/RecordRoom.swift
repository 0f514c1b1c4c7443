import BotPeer
import Media
import NIOPosix
import Recorder
import Room
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
    let session = RoomSession(client: client, peer: peer)
    try await session.join()

    // Received media goes to the recorder.
    await session.run(for: .seconds(seconds)) { event in
      guard case .connection(let event) = event else { return }
      let user = event.participant
      switch event.event {
      case .stateChanged(.connecting): recorder.begin(user)
      case .media(let media): recorder.receive(media, of: user, now: event.time)
      case .ended(let end): recorder.end(user, reason: end.cause == .closedByUs ? .stopped : .left)
      default: break
      }
    }
    await recorder.finish()
    for await summary in recorder.summaries { print(summary.paths.joined(separator: "\n")) }
  }
}
