import BotPeer
import FileSource
import Media
import NIOPosix
import Room
import SkyRTC

/// Plays a WebM, Ogg or IVF file in a room, as if it were a camera, for some seconds.
///
/// Usage: FakeCamera SERVER ROOM FILE SECONDS
@main
struct FakeCamera {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 5, let seconds = Int(arguments[4]) else {
      print("Usage: FakeCamera SERVER ROOM FILE SECONDS")
      return
    }
    let source = try MediaFileSource(opening: arguments[3], owner: ParticipantID("camera"))
    var configuration = Peer.Configuration()
    configuration.sending = source.kinds
    let peer = try await Peer.start(configuration, on: MultiThreadedEventLoopGroup.singleton.next())
    let client = try SkyRTCClient(url: arguments[1], room: arguments[2])
    let session = RoomSession(client: client, peer: peer)
    try await session.join()

    // Frames come when they are due; each goes to everyone who is connected.
    let playing = Task {
      for await frame in await source.frames() { peer.send(frame) }
    }
    await session.run(for: .seconds(seconds))
    playing.cancel()
    print("Played \(source.summary).")
  }
}
