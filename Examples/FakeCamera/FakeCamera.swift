import BotPeer
import FileSource
import Media
import NIOPosix
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
    try await client.connect()

    Task {
      for await event in client.events { peer.receive(event) }
    }
    Task {
      for await event in peer.events {
        if case .signal(let message) = event.event { client.send(message, to: event.participant) }
      }
    }
    // Frames come when they are due; each goes to everyone who is connected.
    let playing = Task {
      for await frame in await source.frames() { peer.send(frame) }
    }
    try await Task.sleep(for: .seconds(seconds))
    playing.cancel()
    await peer.close(reason: "The time is over.")
    await client.leave()
    print("Played \(source.summary).")
  }
}
