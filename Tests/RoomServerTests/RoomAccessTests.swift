import BotPeer
import NIOPosix
import Signalling
import SkyRTC
import Testing
import WHIP

@testable import RoomServer

@Suite("How the gateway joins the rooms of its server")
struct RoomAccessTests {
  private func access(host: String, isSecure: Bool = false, _ settings: RoomServer.Settings = .init()) -> RoomAccess {
    var settings = settings
    settings.rooms.host = host
    if isSecure { settings.rooms.tls = .init(certificateFile: "server.pem", keyFile: "server.key") }
    return RoomAccess(port: 3000, settings: settings, on: MultiThreadedEventLoopGroup.singleton.any())
  }

  @Test(
    "the address is that at which the server listens, and loopback if that is every address",
    arguments: [
      ("0.0.0.0", "ws://127.0.0.1:3000"), ("::", "ws://[::1]:3000"), ("fd00::5", "ws://[fd00::5]:3000"),
      ("calls.example", "ws://calls.example:3000"),
    ])
  func url(host: String, url: String) {
    #expect(access(host: host).url == url)
    #expect(access(host: host, isSecure: true).url == "wss" + url.dropFirst(2))
  }

  @Test("peers use loopback addresses only if the server listens at one", arguments: ["::", "localhost", "192.0.2.1"])
  func loopback(host: String) {
    #expect(access(host: host).peerConfiguration().includesLoopback == (host != "192.0.2.1"))
  }

  @Test("each user of TURN servers has credentials of its own where they expire, and else those of the rooms")
  func iceServers() {
    var settings = RoomServer.Settings()
    settings.rooms.iceServers = ["stun:stun.example"]
    #expect(settings.iceServers(for: "room") == ["stun:stun.example"])
    #expect(access(host: "::", settings).peerConfiguration().iceServerRenewal?.interval == nil)
    settings.iceServerRenewal = .init(interval: .seconds(60)) { user in
      [ICEServer(url: "turn:turn.example", username: user, credential: "secret")]
    }
    #expect(settings.iceServers(for: "room").map(\.username) == ["room"])
    let configuration = access(host: "::", settings).peerConfiguration()
    #expect(configuration.iceServers.map(\.username) == ["chatbot"])
    #expect(configuration.iceServerRenewal?.interval == .seconds(60))
    #expect(configuration.iceServerRenewal?.servers().map(\.username) == ["chatbot"])
    #expect(settings.whipOptions(.init()).makeICEServers?().map(\.username) == ["whip"])
  }

  @Test("pages of other origins may use the gateway if they may join rooms")
  func origins() {
    var settings = RoomServer.Settings()
    settings.rooms.allowedOrigins = ["https://Calls.example"]
    #expect(settings.whipOptions(.init()).allowedOrigins == ["https://calls.example"])
    settings.rooms.allowedOrigins = ["*"]
    #expect(settings.whipOptions(.init()).allowedOrigins == nil)
  }
}
