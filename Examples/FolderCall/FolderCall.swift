import BotPeer
import FileSource
import Media
import NIOPosix
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
    try await client.connect()

    Task {
      for await event in client.events { peer.receive(event) }
    }
    Task {
      guard let source else { return }
      for await frame in await source.frames() { peer.send(frame) }
    }
    Task {
      try await Task.sleep(for: .seconds(seconds))
      await peer.close(reason: "The time is over.")
    }
    var frames = 0
    for await event in peer.events {
      switch event.event {
      case .signal(let message): client.send(message, to: event.participant)
      case .media(.frame): frames += 1
      default: break
      }
    }
    await client.leave()
    print("Received \(frames) frames.")
  }
}
