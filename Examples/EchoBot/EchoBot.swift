import BotPeer
import Media
import NIOPosix
import Room
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
    let session = RoomSession(client: client, peer: peer)
    try await session.join()

    var frames = 0
    await session.run(for: .seconds(seconds)) { event in
      guard case .connection(let event) = event else { return }
      switch event.event {
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
    print("Sent \(frames) frames back.")
  }
}
