import BotPeer
import FileSource
import Media
import NIOPosix
import Room
import Signalling

/// Calls another program through a folder: the caller plays a file, the other one counts what arrives.
///
/// Usage: FolderCall FOLDER SECONDS [FILE]
@main
struct FolderCall {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count >= 3, let seconds = Int(arguments[2]) else {
      print("Usage: FolderCall FOLDER SECONDS [FILE]")
      return
    }
    let source = try arguments.count > 3 ? MediaFileSource(opening: arguments[3], owner: ParticipantID("caller")) : nil
    var configuration = Peer.Configuration()
    configuration.sending = source?.kinds ?? []
    let peer = try await Peer.start(configuration, on: MultiThreadedEventLoopGroup.singleton.next())
    let client = FolderSignalling(
      folder: arguments[1], name: source == nil ? "callee" : "caller", partner: source == nil ? "caller" : "callee",
      offers: source != nil)
    let session = RoomSession(client: client, peer: peer)
    try await session.join()

    Task {
      guard let source else { return }
      for await frame in await source.frames() { peer.send(frame) }
    }
    var frames = 0
    await session.run(for: .seconds(seconds)) { event in
      if case .connection(let event) = event, case .media(.frame) = event.event { frames += 1 }
    }
    print("Received \(frames) frames.")
  }
}
