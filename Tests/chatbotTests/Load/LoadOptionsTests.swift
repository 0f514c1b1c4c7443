import ArgumentParser
import BotPeer
import Load
import Media
import OptionValues
import Testing

@testable import chatbot

@Suite("the options of chatbot load")
struct LoadOptionsTests {
  private func read(_ arguments: String) throws -> LoadOptions {
    try LoadOptions.parse(arguments.split(separator: " ").map(String.init))
  }

  @Test("all of them are read")
  func all() throws {
    let options = try read(
      "--room 100 --publishers 50 --play a.webm --ramp 5/s --duration 30s --json --server wss://a:1 "
        + "--bind-address 127.0.0.1")
    #expect(options.connection.room == "100")
    #expect(options.publishers == 50)
    #expect(options.ramp == RampRate(perSecond: 5))
    #expect(options.duration == TimeSpan(milliseconds: 30_000))
    #expect(options.json)
    #expect(options.connection.server == "wss://a:1")
    #expect(options.playing.play == "a.webm")
  }

  @Test("by default ten publishers a second join the default server and stay")
  func defaults() throws {
    let options = try read("--publishers 1 --play pattern")
    #expect(options.ramp.description == "10/s")
    #expect(options.duration == nil)
    #expect(!options.json)
    #expect(!options.receive)
    #expect(try options.settings().server == "ws://localhost:3000")
  }

  @Test("they become the settings of the library")
  func settings() throws {
    let settings = try read(
      "--room 100 --publishers 50 --play a.webm --once --ramp 5/s --duration 30s --receive --data 200k --max-bitrate 1M "
        + "--send-codec vp9"
    ).settings()
    #expect((settings.server, settings.room) == ("ws://localhost:3000", "100"))
    #expect(settings.publishers == 50 && settings.ramp == RampRate(perSecond: 5))
    #expect(settings.duration == .seconds(30) && settings.waitsForConnections)
    #expect(settings.receives && settings.dataBitrate == 200_000)
    #expect(settings.peer.maximumSendBitrate == 1_000_000)
    #expect(settings.peer.videoCodecs == nil && !settings.peer.acceptsRedundantAudio)
    #expect(settings.peer.dataChannels != nil)
    let others = try read("--publishers 1 --play pattern").settings()
    #expect(others.peer.dataChannels == nil && others.dataBitrate == nil && others.duration == nil)
    #expect(!others.waitsForConnections && !others.receives)
  }

  @Test("the report names the server without what may be secret, and the load waits for it")
  func server() throws {
    let program = try LoadOptions.parse([
      "--publishers", "1", "--play", "pattern", "--wait-for-server", "3s", "--server",
      "exec:python3 x.py --token s3cret",
    ]).settings()
    #expect(program.server == "exec:python3" && program.waitForServer == .seconds(3))
    let url = try read("--viewers 1 --server whep+https://u:s3cret@a/whep/1?key=s3cret").settings()
    #expect(url.server == "whep+https://a/whep/1" && url.waitForServer == .zero)
  }

  @Test("viewers need no input, and receive with clients of their own")
  func viewers() throws {
    let options = try read("--viewers 10 --server whep+http://localhost/whep/room --expect viewers.receiving==10")
    #expect(options.publishers == 0 && options.viewers == 10)
    let settings = try options.settings()
    #expect(settings.publishers == 0 && settings.viewers == 10 && !settings.waitsForConnections)
    #expect(try options.rules().map(\.text) == ["viewers.receiving == 10"])
    #expect(try read("--publishers 2 --viewers 3 --play pattern").settings().viewers == 3)
    let unknown = rejection(of: LoadOptions.self, "--viewers", "1", "--expect", "video.fps >= 3")
    #expect(unknown?.contains("viewers.timeToFirstFrame.p95") == true)
  }

  @Test("what a server does not allow is named publishers or viewers, with the address that allows it")
  func direction() {
    let viewers = rejection(
      of: LoadOptions.self, "--viewers", "3", "--server", "whip+https://u:s3cret@a:1/live/whip?key=s3cret")
    #expect(
      viewers == "WHIP does not allow viewers; it allows publishers. WHEP receives: whep+https://a:1/live/whep")
    let publishers = rejection(
      of: LoadOptions.self, "--publishers", "1", "--play", "pattern", "--server", "whep+http://whep/whep/whep")
    #expect(
      publishers == "WHEP does not allow publishers; it allows viewers. WHIP publishes: whip+http://whep/whep/whip")
    let unknown = rejection(of: LoadOptions.self, "--viewers", "3", "--server", "whip+http://whip/1")
    #expect(unknown == "WHIP does not allow viewers; it allows publishers.")
  }

  @Test("a server on this machine that is not reached can be started")
  func startHint() throws {
    func hint(_ server: String) throws -> String? {
      try read("--viewers 1 --server \(server)").settings().unreachableHint
    }
    #expect(try read("--viewers 1").settings().unreachableHint == "Start one with chatbot serve.")
    #expect(try hint("ws://127.0.0.1:4100") == "Start one with chatbot serve --port 4100.")
    #expect(try hint("whep+http://localhost:3000/whep/1") == "Start one with chatbot serve.")
    #expect(try hint("wss://calls.example:3000") == nil && hint("janus+ws://localhost:8188") == nil)
  }

  @Test(
    "invalid options are rejected before any call begins",
    arguments: [
      "", "--publishers 50", "--play a.webm", "--publishers 0 --play a.webm", "--viewers 3 --play a.webm",
      "--viewers 3 --receive", "--viewers 3 --data 200k", "--viewers 1001", "--viewers -1",
      "--publishers 501 --viewers 500 --play a.webm", "--viewers 3 --server whip+http://a/b",
      "--publishers 1 --play a.webm --server whep+http://a/b", "--viewers 1000 --udp-port 65000",
      "--viewers 1 --expect nonsense", "--viewers 1 --expect viewers.joined", "--publishers 1001 --play a.webm",
      "--publishers 1 --play a.webm --ramp 0/s", "--publishers 1 --play a.webm --duration 0",
      "--publishers 1 --play a.webm --server ftp://a", "--publishers 1 --play a.webm --bind-address here",
      "--publishers 1 --play a.webm --room \(String(repeating: "a", count: 129))",
    ])
  func refused(_ arguments: String) {
    #expect(throws: (any Error).self) { try read(arguments) }
  }
}
