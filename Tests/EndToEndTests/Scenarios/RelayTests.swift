import Foundation
import NIOCore
import NetworkEmulation
import PeerEngine
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// The impaired network on its own: if these fail, the other tests prove nothing about the program.
  @Suite("the lossy relay") struct RelayTests {
    @Test("candidates in a description are changed, removed or kept")
    func candidatesInText() {
      let host = "candidate:1 1 UDP 2122260223 127.0.0.1 5000 typ host generation 0"
      let reflexive = "candidate:2 1 udp 1686052607 192.0.2.1 6000 typ srflx raddr 127.0.0.1 rport 5000"
      let control = "candidate:1 2 UDP 2122260222 127.0.0.1 5001 typ host"
      #expect(CandidateText.hostEndpoint(of: host) == .init(address: "127.0.0.1", port: 5000))
      for other in [reflexive, control, "candidate:1 1 tcp 1 127.0.0.1 9 typ host", "candidate:", ""] {
        #expect(CandidateText.hostEndpoint(of: other) == nil)
      }
      let position = CandidateText.Endpoint(address: "10.0.0.1", port: 7)
      #expect(
        CandidateText.moving(host, to: position) == "candidate:1 1 UDP 2122260223 10.0.0.1 7 typ host generation 0")
      let description = "v=0\r\na=\(host)\r\na=\(reflexive)\r\na=mid:0\r\n"
      #expect(CandidateText.candidates(in: description) == [host, reflexive])
      #expect(CandidateText.replacing(in: description) { _ in nil } == "v=0\r\na=mid:0\r\n")
      #expect(CandidateText.replacing(in: description) { $0 } == description)
    }

    @Test("packets are counted by sequence number, with wraparound and repetition, and padding is counted separately")
    func census() throws {
      var census = RTPCensus()
      func packet(_ number: UInt16, timestamp: UInt32 = 7, padded: Bool = false, type: UInt8 = 96) -> ByteBuffer {
        var packet = ByteBuffer(bytes: [padded ? 0xA0 : 0x80, type])
        packet.writeInteger(number)
        packet.writeInteger(timestamp)
        packet.writeInteger(UInt32(99))
        return packet
      }
      for number in [65_534, 65_535, 0, 1, 0] as [UInt16] { census.pass(packet(number), at: 1) }
      census.pass(packet(2, padded: true), at: 2)
      census.pass(packet(3, timestamp: 8), at: 3)
      census.pass(packet(4, type: 200), at: 4)
      census.pass(ByteBuffer(bytes: [0, 1, 0, 0]), at: 5)
      let source = try #require(census.sources[99])
      #expect(census.sources.count == 1)
      #expect(source.packets == 7)
      #expect(source.numbers.count == 6)
      #expect(source.mediaNumbers == 5)
      #expect(source.frames.map(\.timestamp) == [7, 8])
      #expect(source.frames.map(\.packets) == [4, 1])
    }

    @Test("two bots connect through the relay only, and it counts and drops their packets")
    func twoBots() async throws {
      try await Scenario.run("relay between two bots") { scenario in
        let server = try await scenario.server()
        let relay = try await scenario.relay(to: server, seed: 1)
        let folder = await scenario.recordings()
        let player = try await scenario.bot(
          in: "100", of: server, ["--play", BuiltProgram.sample.path], name: "player")
        let bot = try await scenario.bot(in: "100", of: server, via: relay, ["--record", folder.path])
        try await eventually("media on the relay", within: .seconds(10)) {
          await relay.counts(.toProgram).datagrams > 200 ? true : nil
        }
        await relay.impair(.init(loss: 0.5), .toProgram)
        try await sleepOnEventLoop(for: .seconds(2))
        let (toProgram, fromProgram) = (await relay.counts(.toProgram), await relay.counts(.fromProgram))
        await relay.impair(.init())
        await scenario.note(
          """
          to the bot \(toProgram.lost) of \(toProgram.datagrams) datagrams lost, \
          from it \(fromProgram.lost) of \(fromProgram.datagrams)
          """)
        #expect(toProgram.lost > 50)
        #expect(fromProgram.lost == 0 && fromProgram.droppedByQueue == 0)
        #expect(player.isRunning)
        #expect(try await bot.terminate().ending == .exit(0))
        let userRecording = try #require(try folder.userRecordings().first)
        let video = try #require(userRecording.manifest["tracks"].list.first { $0["kind"] == "video" })
        #expect(video["recovered"].int ?? 0 > 0, "packets dropped by the relay are requested again")
      }
    }
  }
}
