import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// Media on the same transport as a transfer.
  ///
  /// A transfer without a limit of its rate takes all processor time that is left, and fills the receive buffer of the
  /// slowest program, which delays media as much as the buffer holds. So only a transfer of a known rate must not delay
  /// audio; the others are measured, and must cost no frame.
  @Suite("media beside a transfer") struct MediaBesideTransferTests {
    private static let bytes = 40_000_000
    private static let bitrate = 20_000_000

    /// Sends for 8 s at the bitrate on a channel whose messages the bot reads and drops; returns the bytes sent and those
    /// that still wait.
    private static let steadyTransfer = """
      (async () => {
        const [peer] = call.peers.values();
        const channel = peer.createDataChannel('steady', { protocol: 'steady' });
        await new Promise((opened) => { channel.onopen = opened; });
        const begun = performance.now();
        let sent = 0;
        for (let time = 0; time < 8; time = (performance.now() - begun) / 1000) {
          for (; sent < time * \(bitrate) / 8 && channel.bufferedAmount < 4e6; sent += 16384) {
            channel.send(new Uint8Array(16384));
          }
          await new Promise((done) => setTimeout(done, 5));
        }
        const waiting = channel.bufferedAmount;
        channel.close();
        return { sent, waiting };
      })()
      """

    @Test(
      "a transfer on the data channel costs no frame of the recording, and one of 20 Mb/s delays no audio",
      .enabled(if: Machine.hasChromium))
    func chromium() async throws {
      try await Scenario.run("46 media beside a transfer", limit: .seconds(120)) { scenario in
        let server = try await scenario.server()
        // It only notes when packets pass.
        let relay = try await scenario.relay(to: server, seed: 46)
        let folder = await scenario.recordings()
        let received = scenario.folder.appendingPathComponent("received")
        let offered = scenario.folder.appendingPathComponent("bot.bin")
        try Data(repeating: 7, count: Self.bytes).write(to: offered)
        let bot = try await scenario.bot(
          in: "100", of: server, via: relay,
          [
            "--record", folder.path, "--play", BuiltProgram.sample.path, "--loop", "--send-file", offered.path,
            "--receive-files", received.path,
          ])
        let call = try await scenario.call(in: scenario.chromium(), room: "100", server: server, camera: .flashing)
        let user = try await call.joined()
        try await call.connected()
        _ = try await eventually("the bot's offer", within: .seconds(10)) {
          try await call.page.evaluate("call.files()").list.first
        }
        // The first seconds of a call, in which the bandwidth estimates rise, are not typical.
        try await sleepOnEventLoop(for: .seconds(3))

        let quiet = try await Self.span { try await sleepOnEventLoop(for: .seconds(8)) }
        let steady = try await Self.span {
          let result = try await call.page.evaluate(Self.steadyTransfer, within: .seconds(20))
          let (sent, waiting) = (result["sent"].int ?? -1, result["waiting"].int ?? -1)
          await scenario.note("measured: \(sent) bytes in 8 s, of which \(waiting) waited at the end")
          #expect(
            Double(sent - waiting) > 0.9 * Double(Self.bitrate), .onQuietMachine("the page sends at the bitrate"))
        }
        try await sleepOnEventLoop(for: .seconds(1))
        let sending = try await Self.span {
          let states = try await call.page.evaluate(
            "call.offerFile({ name: 'page.bin', bytes: new Uint8Array(\(Self.bytes)).fill(7) })"
              + ".then((result) => Object.values(result).map((one) => one.state))", within: .seconds(40))
          #expect(states == ["received"])
        }
        let receiving = try await Self.span {
          _ = try await call.page.evaluate(
            "document.querySelector('[data-action=accept]:not([hidden])').click() ?? null")
          try await eventually("the bot's file", within: .seconds(30)) {
            try await call.page.evaluate("call.files()").list.first { $0["state"] == "received" }
          }
        }
        let report = try #require(try await call.leave().first)
        let fromPage = try #require(await relay.census(of: user))
        let fromBot = try #require(await relay.census(of: user, .fromProgram))
        let unread = try await relay.unread(of: user)
        #expect(try await bot.terminate().ending == .exit(0))
        await scenario.note(
          String(
            format:
              "measured: %d MB from the page in %.1f s, from the bot in %.1f s; the relay did not read %d datagrams",
            Self.bytes / 1_000_000, sending.upperBound - sending.lowerBound,
            receiving.upperBound - receiving.lowerBound, unread))

        let sent = report.json["sent"]
        let page = try #require(sent["audio"]["ssrc"].int.flatMap { fromPage.sources[UInt32($0)] })
        // The page sends copies of its audio (RED) to a bot that records, and the bot sends Opus, which is 111 in Chromium's offer.
        let ours = try #require(fromBot.source(ofPayloadType: 111))
        let stall = await scenario.stall / 1000
        for (name, source) in [("the page", page), ("the bot", ours)] {
          let before = try #require(source.delays(in: quiet, clockRate: 48_000))
          for (span, transfer) in [
            ("20 Mb/s from the page", steady), ("a file of the page", sending),
            ("a file of the bot", receiving),
          ] {
            let beside = try #require(source.delays(in: transfer, clockRate: 48_000))
            await scenario.note(
              String(
                format: """
                  measured: audio of %@: delay above the shortest (ms): median %.1f, 99th percentile %.1f; beside %@ %.1f \
                  and %.1f
                  """,
                name, 1000 * (before.median - before.shortest), 1000 * (before.p99 - before.shortest), span,
                1000 * (beside.median - before.shortest), 1000 * (beside.p99 - before.shortest)))
            guard transfer == steady else { continue }
            #expect(
              beside.p99 - before.p99 <= 0.010 + stall,
              .onQuietMachine("audio of \(name) is delayed by at most 10 ms more at the 99th percentile"))
          }
        }

        let recording = try #require(try folder.userRecordings().first)
        try Judgement(userRecording: recording, scenario: scenario, name: "Chromium").expectValidFiles()
        let tracks = recording.manifest["tracks"].list
        let video = try #require(sent["video"]["ssrc"].int.flatMap { fromPage.sources[UInt32($0)] })
        let frames = video.frames.count
        let recorded = recording.webm.video?.times.count ?? 0
        await scenario.note(
          """
          measured: \(recorded) of \(frames) frames recorded; packets lost \(tracks.map { $0["lost"].int ?? -1 }), \
          recovered \(tracks.map { $0["recovered"].int ?? -1 }); \(page.missing) audio packets were lost before the relay
          """)
        // The page may leave in the middle of a frame. A frame whose packets the relay did not read arrives by
        // retransmission.
        #expect(recorded >= frames - 1, "each frame is recorded")
        for track in tracks {
          #expect(track["decodeErrors"] == 0)
          // The unlimited transfers overflow sockets before the relay, and audio is not retransmitted.
          let missing = track["kind"] == "audio" ? page.missing : video.missing
          #expect(track["lost"].int ?? .max <= missing, "every packet that passed the relay arrives")
          #expect(track["dropped"].int ?? .max <= missing, "every frame that passed the relay is recorded")
        }
      }
    }

    /// Returns the beginning and the end of some work, in seconds since 1970.
    private static func span(_ work: () async throws -> Void) async rethrows -> ClosedRange<Double> {
      let begun = Date().timeIntervalSince1970
      try await work()
      return begun...max(begun, Date().timeIntervalSince1970)
    }
  }
}

extension RTPCensus.Source {
  /// The delays of frames in seconds, all with the same unknown offset.
  struct Delays {
    var shortest: Double
    var median: Double
    var p99: Double
  }

  /// Returns how late the frames passed after their RTP timestamps; nil for fewer than 50 frames.
  ///
  /// - Parameter span: the times when they passed, in seconds since 1970.
  func delays(in span: ClosedRange<Double>, clockRate: Double) -> Delays? {
    guard let first = frames.first else { return nil }
    let delays = frames.filter { span.contains($0.passedAt) }.map { frame in
      frame.passedAt - first.passedAt - Double(Int32(bitPattern: frame.timestamp &- first.timestamp)) / clockRate
    }.sorted()
    guard delays.count >= 50 else { return nil }
    return Delays(shortest: delays[0], median: delays[delays.count / 2], p99: delays[delays.count * 99 / 100])
  }
}
