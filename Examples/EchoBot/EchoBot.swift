import BotPeer
import Media
import NIOPosix
import SkyRTC

/// Sends everybody's media back to them for some seconds, without decoding it.
///
/// Usage: EchoBot SERVER ROOM SECONDS
@main
struct EchoBot {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 4, let seconds = Int(arguments[3]) else {
      print("Usage: EchoBot SERVER ROOM SECONDS")
      return
    }
    var configuration = Peer.Configuration()
    configuration.sending = [.audio, .video]
    let peer = try await Peer.start(configuration, on: MultiThreadedEventLoopGroup.singleton.next())
    let client = try SkyRTCClient(url: arguments[1], room: arguments[2])
    try await client.connect()

    Task {
      for await event in client.events { peer.receive(event) }
    }
    Task {
      try await Task.sleep(for: .seconds(seconds))
      await peer.close(reason: "The time is over.")
    }
    var frames = 0
    for await event in peer.events {
      switch event.event {
      case .signal(let message):
        client.send(message, to: event.participant)
      case .media(.frame(let frame)):
        frames += 1
        peer.send(frame, to: event.participant)
      case .keyframeRequested:
        // Only the camera at the other end can make a keyframe.
        peer.requestKeyframe(of: event.participant)
      default:
        break
      }
    }
    await client.leave()
    print("Sent \(frames) frames back.")
  }
}
