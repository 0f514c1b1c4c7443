import Foundation
import Synchronization
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// Bots and a real TURN server that refuses, ends, or is not there.
  @Suite("TURN servers", .enabled(if: Machine.hasNetworkLab && Machine.programHasTURN)) struct TURNCallTests {
    @Test(
      "a bot names a wrong password, a reached quota and a TURN server that does not answer",
      .enabled(if: Machine.runsWholeNetworkMatrix))
    func refusals() async throws {
      try await NetworkLab.run("TURN servers that refuse") { lab in
        var options = TURNServer.Options()
        options.userQuota = 1
        let server = try await TURNServer.start(on: lab.internetHost("turn"), of: lab, options)
        let rooms = try await LabRooms.start(on: lab.internetHost("rooms"), of: lab)
        let host = try await lab.host("home", behind: .symmetric, families: .ipv4)
        let relayed =
          rooms.options + [
            "--room", "refusals", "--log-level", "debug", "--ice-transport-policy", "relay", "--play",
            BuiltProgram.sample.path,
          ]
        let first = try await lab.bot("first", on: host, relayed + ["--ice-server", server.turnURL(.udp)])
        try await eventually("allocation", within: .seconds(10)) {
          first.output.contains("TURN server relays") ? true : nil
        }
        var wrong = server.options
        wrong.password = "wrong"
        let cases = [
          (
            "second", server.turnURL(.udp),
            "The server's quota for this user is reached (error 486): end other calls of the user or raise the quota."
          ),
          (
            "wrong", "turn:\(wrong.user):\(wrong.password)@\(server.host.urlHost)",
            "The TURN server refused the user name or the password (error 401, realm \"lab.example\"): check both."
          ),
          (
            "absent", "turn:\(wrong.user):\(wrong.password)@203.0.113.90",
            "The TURN server has not answered for 8 s: check its address, port and transport."
          ),
        ]
        for (name, url, sentence) in cases {
          let bot = try await lab.bot(name, on: host, relayed + ["--ice-server", url])
          let line = try await eventually("\"\(sentence)\"", within: .seconds(12)) {
            bot.output.split(separator: "\n").first { $0.contains(sentence) }
          }
          #expect(line.contains(" WARN"), "\(line)")
          #expect(!bot.output.contains("\(wrong.user):"), "no log line has the credentials")
        }
      }
    }

    @Test(
      "a call whose TURN server is not there connects directly in the usual time, and the log says why nothing relays",
      .enabled(if: Machine.runsWholeNetworkMatrix))
    func absentServer() async throws {
      try await NetworkLab.run("a TURN server that is not there") { lab in
        let server = try await TURNServer.start(on: lab.internetHost("turn"), of: lab)
        let rooms = try await LabRooms.start(on: lab.internetHost("rooms"), of: lab)
        var call = NATCall(name: "absent", server: server, rooms: rooms, servers: .stun)
        call.options = ["--ice-server", "turn:bot:a-password@203.0.113.90"]
        let outcome = try await call.run(
          from: lab.host("sender", behind: .portRestricted, families: .ipv4),
          to: lab.host("receiver", behind: .portRestricted, families: .ipv4), in: lab
        ) { try await sleepOnEventLoop(for: .seconds(8)) }
        let seconds = try #require(outcome.connectedAfter)
        let stall = await lab.scenario.stall / 1000
        #expect(seconds < 2 + stall, .onQuietMachine("connected within 2 s"))
        #expect(outcome.frames > 0 && outcome.frames == outcome.expectedFrames, "every frame is recorded")
        #expect(outcome.recorder.output.contains(" path=direct "))
        #expect(outcome.recorder.output.contains("The TURN server has not answered for 8 s"))
      }
    }

    @Test("media is back within 8 s after a TURN server was restarted in mid-call; one file names what is missing")
    func restart() async throws {
      try await NetworkLab.run("a TURN server that restarts", limit: .seconds(120)) { lab in
        let server = try await TURNServer.start(on: lab.internetHost("turn"), of: lab)
        let rooms = try await LabRooms.start(on: lab.internetHost("rooms"), of: lab)
        let call = NATCall(name: "restart", server: server, rooms: rooms, servers: .relay(.udp))
        let back = Mutex(Duration.zero)
        let log = lab.folder.appendingPathComponent("restart-recorder.log")
        let outcome = try await call.run(
          from: lab.host("sender", behind: .symmetric, families: .ipv4),
          to: lab.host("receiver", behind: .symmetric, families: .ipv4), in: lab
        ) {
          try await sleepOnEventLoop(for: .seconds(3))
          await server.kill()
          try await sleepOnEventLoop(for: .seconds(2))
          _ = try await server.restarted()
          let restarted = ContinuousClock.now
          try await eventually("connection after the restart", within: .seconds(15)) {
            try String(contentsOf: log, encoding: .utf8).ranges(of: " user connected ").count >= 2 ? true : nil
          }
          back.withLock { $0 = ContinuousClock.now - restarted }
          try await sleepOnEventLoop(for: .seconds(3))
        }
        // What was lost in a short time without a server is sent again.
        let gaps = outcome.video["gaps"].list.filter {
          ($0["start"].double ?? 0) < outcome.length && $0["reason"] != "recoveredLate"
        }
        let missing = gaps.reduce(0) { $0 + ($1["duration"].double ?? 0) } * NATCall.framesPerSecond
        let seconds = back.withLock { $0 } / .seconds(1)
        await lab.scenario.note(
          "back \(seconds) s after the restart; \(outcome.frames) frames in \(outcome.length) s, \(Int(missing)) missing"
        )
        let stall = await lab.scenario.stall / 1000
        #expect(seconds < 8 + stall, .onQuietMachine("media is back within 8 s"))
        #expect(outcome.recorder.output.contains(" path=relayed "))
        #expect(RecordingFolder(url: lab.folder.appendingPathComponent(call.name)).files("webm").count == 1)
        #expect(outcome.video["gaps"].list.count > 0, "the manifest names the interruption")
        #expect(outcome.length > 7, "the recording goes on after it")
        #expect(
          abs(Double(outcome.frames - outcome.expectedFrames) + missing) <= 3, "the gaps name every missing frame")
      }
    }

    @Test(
      "a relayed call holds for 270 s, in which permissions and nonces expire",
      .enabled(if: Machine.runsWholeNetworkMatrix))
    func held() async throws {
      try await NetworkLab.run("a relayed call that lasts", limit: .seconds(400)) { lab in
        var options = TURNServer.Options()
        options.nonceLifetime = 20
        let server = try await TURNServer.start(on: lab.internetHost("turn"), of: lab, options)
        let rooms = try await LabRooms.start(on: lab.internetHost("rooms"), of: lab)
        let call = NATCall(name: "held", server: server, rooms: rooms, servers: .relay(.udp))
        let outcome = try await call.run(
          from: lab.host("sender", behind: .symmetric, families: .ipv4),
          to: lab.host("receiver", behind: .symmetric, families: .ipv4), in: lab
        ) { try await sleepOnEventLoop(for: .seconds(270)) }
        await lab.scenario.note("\(outcome.frames) of \(outcome.expectedFrames) frames, \(outcome.lost) packets lost")
        #expect(outcome.length > 265)
        #expect(outcome.frames == outcome.expectedFrames && outcome.gaps == 0, "every frame is recorded")
        // Each bot requests its permission, and again before the server's 300 s have passed.
        let permissions = server.output.ranges(of: "CREATE_PERMISSION processed, success").count
        #expect(permissions >= 4, "the permissions were renewed")
        #expect(server.output.contains("error 438"), "the nonce had expired")
        #expect(!outcome.recorder.output.contains("A new address is requested"), "the allocation was never lost")
      }
    }

    @Test(
      "fifty publishers reach a recorder through one TURN server", .enabled(if: Machine.runsWholeNetworkMatrix))
    func fiftyPublishers() async throws {
      try await NetworkLab.run("fifty relayed publishers", limit: .seconds(180)) { lab in
        let server = try await TURNServer.start(on: lab.internetHost("turn"), of: lab)
        let rooms = try await LabRooms.start(on: lab.internetHost("rooms"), of: lab)
        let options =
          rooms.options + ["--room", "fifty"] + NATCall.Servers.relay(.udp).options(with: server)
        let folder = RecordingFolder(url: lab.folder.appendingPathComponent("recordings"))
        let recorder = try await lab.bot(
          "recorder", on: lab.host("receiver", behind: .symmetric, families: .ipv4),
          options + ["--record", folder.path])
        try await eventually("joined recorder", within: .seconds(15)) {
          recorder.output.contains(" joined ") ? true : nil
        }
        let load = try await lab.bot(
          "load", on: lab.host("sender", behind: .symmetric, families: .ipv4),
          ["load"] + options + ["--publishers", "50", "--play", BuiltProgram.sample.path, "--duration", "10s"])
        #expect(try await load.ending(within: .seconds(90)) == .exit(0), "each publisher was connected")
        _ = try await recorder.terminate(within: .seconds(30))
        #expect(load.output.contains("50 of 50"), "\(load.output.suffix(2000))")
        #expect(recorder.output.ranges(of: " user connected localCandidate=relay path=relayed ").count == 50)
        #expect(folder.files("json").count == 50)
      }
    }
  }
}
