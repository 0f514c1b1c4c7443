import Foundation
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// Calls over TCP between two bots (RFC 6544).
  @Suite("calls over TCP", .enabled(if: Machine.hasNetworkLab)) struct TCPCallTests {
    @Test(
      "a WHIP publisher whose firewall drops UDP publishes to our server over TCP",
      .enabled(if: Machine.runsWholeNetworkMatrix))
    func publisher() async throws {
      try await NetworkLab.run("a WHIP publisher over TCP") { lab in
        let rooms = try await LabRooms.start(
          on: lab.internetHost("rooms"), of: lab, ["--tcp", "--tcp-port", "8443"])
        let home = try await lab.host("home", behind: .symmetric, firewall: .udpBlocked, families: .ipv4)
        let (recorder, folder) = try await lab.roomRecorder(rooms: rooms)
        let publisher = try await lab.whipPublisher(on: home, rooms: rooms, ["--tcp"])
        try await sleepOnEventLoop(for: .seconds(4))
        #expect(publisher.output.contains(" transport=tcp "))
        #expect(try await recorder.terminate().ending == .exit(0))
        #expect(try await publisher.terminate().ending == .exit(0))
        let video = try #require(folder.userRecordings().first?.webm.video)
        await lab.scenario.note("\(video.times.count) frames in \(video.times.last ?? 0) s")
        #expect(Double(video.times.count) >= 29 * (video.times.last ?? .infinity), "every frame is recorded")
      }
    }

    @Test(
      "a call whose TCP connection is reset goes on over a new one, and one file has or names every frame",
      .enabled(if: Machine.runsWholeNetworkMatrix))
    func resetConnection() async throws {
      try await NetworkLab.run("a reset TCP connection") { lab in
        let server = try await TURNServer.start(on: lab.internetHost("turn"), of: lab)
        let rooms = try await LabRooms.start(on: lab.internetHost("rooms"), of: lab)
        let sender = try await lab.host(
          "sender", behind: .portRestricted, firewall: .onlyTCP443, families: .ipv4)
        let receiver = try await lab.internetHost("receiver")
        let call = NATCall(name: "reset", server: server, rooms: rooms, servers: .iceTCP)
        let outcome = try await call.run(from: sender, to: receiver, in: lab) {
          try await sleepOnEventLoop(for: .seconds(2))
          try await receiver.namespace.run(
            """
            nft add table inet media
            nft 'add chain inet media received { type filter hook input priority 0; }'
            nft add rule inet media received tcp dport 443 reject with tcp reset
            sleep 0.3
            nft delete table inet media
            """)
          try await sleepOnEventLoop(for: .seconds(6))
        }
        let missing = outcome.video["gaps"].list.reduce(0) { $0 + ($1["frames"].int ?? 0) }
        let log = outcome.player.output + outcome.recorder.output
        let restarts = log.components(separatedBy: "ICE is restarted").count - 1
        await lab.scenario.note(
          "\(outcome.frames) frames, \(missing) missing, of \(outcome.expectedFrames); \(restarts) restarts")
        #expect(RecordingFolder(url: lab.folder.appendingPathComponent(call.name)).files("webm").count == 1)
        #expect(outcome.candidateTypes?.hasSuffix(" over TCP") == true)
        #expect(restarts > 0 && log.contains("The path to the participant was lost"))
        #expect(outcome.length > 6, "the recording goes on after it")
        #expect(
          abs(outcome.frames + missing - outcome.expectedFrames) <= 2, "what was not sent again is named as a gap")
      }
    }
  }
}
