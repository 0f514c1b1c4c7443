import Foundation
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// Somebody in the room who wants to harm the others by what they say.
  @Suite("a hostile participant") struct HostileParticipantTests {
    /// The lines of an offer that is answered.
    private static let head = """
      v=0\r
      o=- 1 1 IN IP4 0.0.0.0\r
      s=-\r
      t=0 0\r
      m=video 9 UDP/TLS/RTP/SAVPF 96\r
      c=IN IP4 0.0.0.0\r
      a=mid:0\r
      a=ice-ufrag:abcd\r
      a=ice-pwd:abcdefghijklmnopqrstuv\r
      a=fingerprint:sha-256 \(Array(repeating: "AB", count: 32).joined(separator: ":"))\r
      a=setup:actpass\r
      a=rtcp-mux\r
      a=sendonly\r
      a=rtpmap:96 VP8/90000\r
      a=extmap:10 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id\r

      """

    /// Each takes the victim's id and gives messages.
    private static let attacks: [(name: String, messages: @Sendable (String) throws -> [String])] = [
      (
        "rids with long restrictions, in an answer of ours",
        { id in
          let rids = (0..<26).map { "a=rid:r\($0) send pt=96;x=\(String(repeating: "y", count: 7_000))\r\n" }.joined()
          return Array(repeating: try offer(head + rids + "a=simulcast:send r0;r1;r2\r\n", to: id), count: 3)
        }
      ),
      (
        "payload types of rids, for each of many alternatives",
        { id in
          let types = (0..<2_000).map { "\($0 % 128)" }.joined(separator: ",")
          let rids = (0..<26).map { "a=rid:r\($0) send pt=\(types)\r\n" }.joined()
          let names = (0..<2_000).map { "r\($0 % 26)" }.joined(separator: ",")
          return Array(repeating: try offer(head + rids + "a=simulcast:send \(names)\r\n", to: id), count: 10)
        }
      ),
      (
        "addresses of strangers",
        { id in
          let candidates = (0..<50).map {
            "a=candidate:\($0) 1 udp 2130706431 198.51.100.1 \(20_000 + $0) typ host\r\n"
          }
          return Array(repeating: try offer(head + candidates.joined(), to: id), count: 5)
        }
      ),
      (
        "candidates with escapes",
        { id in
          let text = #"candidate:1 1 udp 1 \u001b]0;owned\u0007\nERROR forged 5000 typ host"#
          return Array(
            repeating: #"{"eventName":"__ice_candidate","data":{"socketId":"\#(id)","candidate":"\#(text)","id":"0"}}"#,
            count: 500)
        }
      ),
      (
        "a candidate that doubles on its way",
        { id in
          let mid = String(repeating: "m", count: 135_000)
          return [
            #"{"eventName":"__ice_candidate","data":{"socketId":"\#(id)","candidate":"candidate:1","id":"\#(mid)"}}"#
          ]
        }
      ),
      ("answers that nobody awaits", { id in Array(repeating: try answer(head, to: id), count: 1_000) }),
      (
        "JSON with many values",
        { _ in
          Array(
            repeating: #"{"eventName":"x","data":[\#(Array(repeating: "{}", count: 80_000).joined(separator: ","))]}"#,
            count: 10)
        }
      ),
    ]

    private static func offer(_ sdp: String, to id: String) throws -> String { try description("offer", sdp, to: id) }

    private static func answer(_ sdp: String, to id: String) throws -> String { try description("answer", sdp, to: id) }

    private static func description(_ kind: String, _ sdp: String, to id: String) throws -> String {
      let data: JSON = ["sdp": ["type": .string(kind), "sdp": .string(sdp)], "socketId": .string(id)]
      return try JSON.object(["eventName": .string("__\(kind)"), "data": data]).text
    }

    @Test("costs the others no frame and no recording, whatever it says")
    func says() async throws {
      try await Scenario.run("25 a hostile participant") { scenario in
        let server = try await scenario.server()
        let folder = await scenario.recordings()
        let recorder = try await scenario.bot(in: "100", of: server, ["--record", folder.path], name: "recorder")
        let play = ["--play", BuiltProgram.sample.path, "--loop"]
        let players = try await [
          scenario.bot(in: "100", of: server, play, name: "player 1"),
          scenario.bot(in: "100", of: server, play, name: "player 2"),
        ]
        try await Task.sleep(for: .seconds(1))
        let begun = ProcessFigures.processorTime(of: recorder.process.id)
        for (name, messages) in Self.attacks {
          let attacker = try await ScriptedParticipant(joining: "100", of: server, in: scenario.network)
          #expect(attacker.others.count == 3, "after all attacks before \"\(name)\"")
          for victim in attacker.others {
            // The server may have had enough.
            for message in try messages(victim) { try? await attacker.send(message) }
          }
          try await Task.sleep(for: .milliseconds(700))
          attacker.leave()
        }
        try await Task.sleep(for: .seconds(1))
        #expect(([recorder] + players).allSatisfy { $0.isRunning })
        let spent = (ProcessFigures.processorTime(of: recorder.process.id) ?? .nan) - (begun ?? .nan)
        for player in players { _ = try await player.terminate() }
        #expect(try await recorder.terminate().ending == .exit(0))

        let takes = try folder.takes()
        #expect(takes.count == 2, "one recording for each honest participant, and none was cut")
        for take in takes {
          let video = try #require(take.manifest["tracks"].list.first { $0["kind"] == "video" })
          await scenario.note("measured: \(video["frames"].int ?? 0) pictures in \(video["duration"].double ?? .nan) s")
          #expect(video["lost"] == 0, .onQuietMachine("no socket overflows"))
          #expect(video["decodeErrors"] == 0)
          let duration = try #require(video["duration"].double)
          #expect(abs(Double(video["frames"].int ?? 0) - 30 * duration) < 3, .onQuietMachine("no picture is missing"))
        }
        let log = recorder.output
        let lines = log.split(separator: "\n").count
        await scenario.note(
          "measured: \(lines) lines of log; the recorder took \(String(format: "%.1f", spent)) s of a processor")
        #expect(!log.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
        #expect(!log.split(separator: "\n").contains { $0.hasPrefix("ERROR") })
        #expect(lines < 300)
      }
    }
  }
}
