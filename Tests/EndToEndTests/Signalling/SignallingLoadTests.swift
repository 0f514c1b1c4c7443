import Foundation
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// `chatbot load` with three publishers, and what others record of them.
  @Suite("a load of three publishers in each signalling system") struct SignallingLoadTests {
    @Test(
      "a recorder in a room of Janus records three publishers", .enabled(if: JanusProcess.isInstalled || Machine.isCI))
    func janus() async throws {
      try await Scenario.run("34 load in Janus") { scenario in
        let server = try await JanusProcess.start(in: scenario)
        let folder = await scenario.recordings()
        let recorder = try await scenario.bot(
          "recorder", at: server.address, ["--room", "1234", "--record", folder.path])
        try await SignallingOutcomes.record(.janus, .load) {
          try await scenario.expectLoad(at: server.address, ["--room", "1234", "--user", "load"])
          #expect(try await recorder.terminate().ending == .exit(0))
          try await scenario.expectRecorded(3, in: [folder])
        }
        let names = try folder.userRecordings().compactMap { $0.manifest["name"].string }.sorted()
        #expect(names == ["load", "load-1", "load-2"])
      }
    }

    @Test("what three publishers send by WHIP is recorded in the room")
    func whip() async throws {
      try await Scenario.run("34b load by WHIP") { scenario in
        let server = try await scenario.server()
        let folder = await scenario.recordings()
        let recorder = try await scenario.bot(in: "100", of: server, ["--record", folder.path], name: "recorder")
        try await SignallingOutcomes.record(.whip, .load) {
          try await scenario.expectLoad(at: "whip+http://127.0.0.1:\(server.port)/whip/100")
          #expect(try await recorder.terminate().ending == .exit(0))
          try await scenario.expectRecorded(3, in: [folder])
        }
      }
    }

    @Test("ten viewers play by WHEP what is published by WHIP")
    func whep() async throws {
      try await Scenario.run("34f load of viewers by WHEP") { scenario in
        let server = try await scenario.server()
        let publisher = try await scenario.bot(
          "publisher", at: "whip+http://127.0.0.1:\(server.port)/whip/100", Scenario.smallPattern)
        try await scenario.connected(publisher)
        try await SignallingOutcomes.record(.whep, .load) {
          try await scenario.expectViewers(10, at: "whep+http://127.0.0.1:\(server.port)/whep/100")
        }
        #expect(try await publisher.terminate().ending == .exit(0))
      }
    }

    @Test("ten viewers of a room receive what a publisher of the same load sends")
    func viewers() async throws {
      try await Scenario.run("34g load of viewers in a room") { scenario in
        let server = try await scenario.server()
        try await scenario.expectViewers(
          10, at: "ws://127.0.0.1:\(server.port)", ["--room", "100", "--publishers", "1"] + Scenario.smallPattern)
      }
    }

    @Test("viewers in a room of Janus subscribe to a publisher", .enabled(if: JanusProcess.isInstalled || Machine.isCI))
    func janusViewers() async throws {
      try await Scenario.run("34h load of viewers in Janus") { scenario in
        let server = try await JanusProcess.start(in: scenario)
        try await scenario.expectViewers(
          5, at: server.address, ["--room", "1234", "--user", "load", "--publishers", "1"] + Scenario.smallPattern)
      }
    }

    @Test(
      "three publishers call a user of a socket.io server, who records them",
      .enabled(if: !Generation.available.isEmpty || Machine.isCI))
    func socketIO() async throws {
      try await Scenario.run("34c load of socket.io") { scenario in
        let server = try await PhoneServer(try #require(Generation.tested.last), in: scenario)
        let folder = await scenario.recordings()
        let bob = try await scenario.bot("bob", at: server.address, ["--user", "bob", "--record", folder.path])
        try await SignallingOutcomes.record(.socketIO, .load) {
          try await scenario.expectLoad(at: server.address, ["--user", "load", "--call", "bob"])
          #expect(try await bob.terminate().ending == .exit(0))
          try await scenario.expectRecorded(3, in: [folder])
        }
      }
    }

    @Test("each publisher of a load has a program of its own, and a recorder records three")
    func exec() async throws {
      try await Scenario.run("34e load of programs") { scenario in
        let hub = try await ProgramHub(in: scenario)
        let folder = await scenario.recordings()
        let recorder = try await scenario.bot(
          "recorder", at: hub.address, ["--room", "load", "--user", "recorder", "--record", folder.path])
        try await SignallingOutcomes.record(.exec, .load) {
          try await scenario.expectLoad(at: hub.address, ["--room", "load", "--user", "load"])
          #expect(try await recorder.terminate().ending == .exit(0))
          try await scenario.expectRecorded(3, in: [folder])
        }
      }
    }

    @Test("three publishers are the hosts of a room of Firestore each, and the guests record them")
    func firestore() async throws {
      try await Scenario.run("34d load of Firestore") { scenario in
        let store = try await Store(in: scenario)
        var folders: [RecordingFolder] = []
        var guests: [Bot] = []
        for suffix in ["", "-1", "-2"] {
          let folder = await scenario.recordings("guest\(suffix)")
          folders.append(folder)
          guests.append(
            try await store.bot(
              "guest\(suffix)", store.room("lounge\(suffix)", "role=guest&create=yes"), ["--record", folder.path]))
        }
        try await SignallingOutcomes.record(.firestore, .load) { [folders, guests] in
          try await scenario.expectLoad(
            at: store.room("lounge", "role=host"), environment: store.environment)
          for guest in guests { #expect(try await guest.terminate().ending == .exit(0)) }
          try await scenario.expectRecorded(3, in: folders)
        }
      }
    }
  }
}

extension Scenario {
  /// Runs `chatbot load` with three publishers and expects that all were connected and sent media for 4 s.
  fileprivate func expectLoad(
    at address: String, _ arguments: [String] = [], environment: [String: String] = [:]
  ) async throws {
    let load = try start(
      "load",
      ["load", "--server", address, "--publishers", "3", "--ramp", "5/s", "--duration", "4s", "--json", "--quiet"]
        + Self.smallPattern + arguments, environment: environment)
    let ending = try await load.ending(within: .seconds(30))
    try #require(ending == .exit(0), "\(load.output)")
    let report = try JSON(parsing: load.output)
    let times = report["connectTime"]
    note(
      "measured: connected in \(times["median"].double ?? .nan) ms, at most \(times["worst"].double ?? .nan) ms, "
        + "\(report["sent"]["frames"].int ?? 0) frames sent")
    try #require(report["connected"] == 3)
    // Each publisher sends 20 frames of video and 50 of audio a second.
    try #require(report["sent"]["frames"].int ?? 0 >= 3 * 2 * 70, .onQuietMachine("each publisher sends for 2 s"))
  }

  /// Runs `chatbot load` with viewers and expects that all of them receive frames for 4 s.
  fileprivate func expectViewers(_ count: Int, at address: String, _ arguments: [String] = []) async throws {
    let load = try start(
      "load",
      ["load", "--server", address, "--viewers", "\(count)", "--ramp", "10/s", "--duration", "4s", "--json", "--quiet"]
        + ["--expect", "viewers.receiving == \(count)"] + arguments)
    let ending = try await load.ending(within: .seconds(30))
    try #require(ending == .exit(0), "\(load.output)")
    let report = try JSON(parsing: load.output)
    let (viewers, rows) = (report["viewers"], report["eachViewer"].list)
    note(
      "measured: first frame after \(viewers["firstFrameTime"]["median"].double ?? .nan) ms, at most "
        + "\(viewers["firstFrameTime"]["worst"].double ?? .nan) ms, \(viewers["received"]["frames"].int ?? 0) frames")
    try #require(viewers["connected"].int == count && rows.count == count)
    try #require(rows.allSatisfy { $0["received"]["frames"].int ?? 0 > 0 })
    // The pattern has 20 frames of video and 50 of audio a second.
    try #require(
      viewers["received"]["frames"].int ?? 0 >= count * 2 * 70, .onQuietMachine("each viewer receives for 2 s"))
  }

  /// Expects finished recordings of so many users, each with at least two seconds of video.
  fileprivate func expectRecorded(_ count: Int, in folders: [RecordingFolder]) async throws {
    let recordings = try folders.flatMap { try $0.userRecordings() }
    try #require(recordings.count == count)
    for recording in recordings {
      try await expectGood(recording, seconds: 2, name: recording.webm.file.lastPathComponent)
    }
  }
}
