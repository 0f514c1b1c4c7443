import Foundation
import NetworkEmulation
import TestSupport
import Testing

extension EndToEnd {
  /// Chat and files between the bot and pages.
  @Suite("chat and files") struct ChatScenarioTests {
    @Test(
      "chat with the call page is recorded as JSON lines and subtitles, and files arrive whole in both directions",
      .enabled(if: Machine.hasChromium))
    func callPage() async throws {
      try await Scenario.run("42 chat and files") { scenario in
        let server = try await scenario.server()
        let offered = try TestFile(bytes: 5_000_000, seed: 1, name: "from the bot.bin", in: scenario.folder)
        let received = scenario.folder.appendingPathComponent("received")
        let folder = await scenario.recordings()
        let bot = try await scenario.bot(
          in: "100", of: server,
          [
            "--record", folder.path, "--say", "Hello <everybody>", "--send-file", offered.url.path, "--receive-files",
            received.path,
          ])
        let call = try await scenario.call(in: scenario.chromium(), room: "100", server: server, camera: .flashing)
        let user = try await call.joined()
        try await call.connected()
        let greeting = try await eventually("the greeting", within: .seconds(15)) {
          try await call.page.evaluate("call.messages()").list.first { $0["text"] == "Hello <everybody>" }
        }
        #expect(greeting["from"].string?.isEmpty == false)
        _ = try await call.page.evaluate("call.acceptFiles = true")
        _ = try await call.page.evaluate("call.say('Good morning & goodbye\\nin two lines')")

        // A file of the page, and the bot's.
        let sent = try await call.page.evaluate(
          "(async () => { \(TestFile.script(bytes: 5_000_000, seed: 2)); const result = await call.offerFile({ name: "
            + "'page.bin', bytes }); return { sha256: await \(TestFile.digest("bytes")), states: "
            + "Object.values(result).map((one) => one.state) }; })()", within: .seconds(40))
        #expect(sent["states"].list.map(\.string) == ["received"])
        let stored = received.appendingPathComponent("page.bin")
        #expect(try TestFile.sha256(of: stored) == sent["sha256"].string)
        try await clickAccept(call)
        let file = try await eventually("the bot's file", within: .seconds(30)) {
          try await call.page.evaluate("call.files()").list.first { $0["state"] == "received" }
        }
        #expect(file["name"] == "from the bot.bin")
        #expect(file["sha256"].string == offered.sha256)
        _ = try await call.page.evaluate("document.querySelector('#chat').click() ?? null")
        try await call.page.screenshot().write(to: scenario.folder.appendingPathComponent("page.png"))

        let errors = await call.page.errors
        #expect(errors == [])
        _ = try await call.leave()
        #expect(try await bot.terminate().ending == .exit(0))
        try expectChat(in: folder, of: user)
        let recording = try #require(try folder.userRecordings().first)
        try Judgement(userRecording: recording, scenario: scenario, name: "Chromium").expectValidFiles()
        let log = try JSON(
          parsing: String(contentsOf: received.appendingPathComponent("received.jsonl"), encoding: .utf8))
        #expect(log["file"] == "page.bin" && log["complete"] == true && log["sha256"] == sent["sha256"])
        #expect(log["user"].string == user)
      }
    }

    /// Accepts an offer that was made before files were accepted automatically.
    private func clickAccept(_ call: CallPage) async throws {
      _ = try await call.page.evaluate("document.querySelector('[data-action=accept]:not([hidden])')?.click() ?? null")
    }

    private func expectChat(in folder: RecordingFolder, of user: String) throws {
      let lines = try String(contentsOf: folder.url.appendingPathComponent("\(user).chat.jsonl"), encoding: .utf8)
        .split(separator: "\n").map { try JSON(parsing: String($0)) }
      #expect(lines.map { $0["text"].string } == ["Hello <everybody>", "Good morning & goodbye\nin two lines"])
      #expect(lines.last?["from"].string == user)
      #expect(lines.allSatisfy { ($0["time"].double ?? -1) >= 0 })
      let subtitles = folder.url.appendingPathComponent("\(user).vtt")
      let text = try String(contentsOf: subtitles, encoding: .utf8)
      #expect(text.hasPrefix("WEBVTT\n\n") && text.contains("Good morning &amp; goodbye\nin two lines"))
      let probed = try Recording(subtitles)
      #expect(probed.streams.map(\.codec) == ["webvtt"])
      #expect(probed.streams[0].times.count == 2)
    }

    @Test(
      "a client of 2013 and the bot exchange chat and files by the messages of that client, and may refuse",
      .enabled(if: Machine.hasChromium))
    func client2013() async throws {
      try await Scenario.run("43 chat and files of a client of 2013") { scenario in
        let server = try await scenario.server()
        let offered = try TestFile(bytes: 20_000, seed: 3, name: "a.png", in: scenario.folder)
        let received = scenario.folder.appendingPathComponent("received")
        let bot = try await scenario.bot(
          in: "100", of: server,
          [
            "--say", "one", "--say", "two", "--send-file", offered.url.path, "--receive-files", received.path,
            "--max-file-size", "50kB",
          ])
        let page = try await scenario.page(of: scenario.chromium(), camera: .refused)
        try await page.addStartScript(Pages.script("skyrtc-2013"))
        try await page.open(server.pageAddress + "style.css")
        _ = try await page.evaluate("sky.join('\(server.address)', '100')")
        let asked = try await eventually("the bot's offer", within: .seconds(15)) {
          try await page.evaluate("sky.asked").list.first
        }
        #expect(asked["name"] == "a.png" && asked["size"] == 20_000)
        #expect(try await page.evaluate("sky.messages.map((one) => one.text)").list.map(\.string) == ["one", "two"])
        _ = try await page.evaluate("sky.accept(0)")
        let file = try await eventually("the bot's file", within: .seconds(15)) {
          let found = try await page.evaluate(
            "sky.received.length === 0 ? null : sky.sha256(sky.received[0].bytes)")
          return found.string
        }
        #expect(file == offered.sha256)

        _ = try await page.evaluate("sky.say('from 2013')")
        try await scenario.logged("from 2013", by: bot)
        let id = try #require(try await page.evaluate("Object.keys(sky.channels)[0]").string)
        func offer(_ name: String, bytes: Int) async throws -> JSON {
          try await page.evaluate(
            "(async () => { \(TestFile.script(bytes: bytes, seed: 4)); const taken = await sky.offerFile('\(id)', "
              + "'\(name)', bytes); return { taken, sha256: await sky.sha256(bytes) }; })()")
        }
        let sent = try await offer("b.bin", bytes: 30_000)
        #expect(sent["taken"] == true)
        try await scenario.logged("file received", by: bot)
        #expect(try TestFile.sha256(of: received.appendingPathComponent("b.bin")) == sent["sha256"].string)
        #expect(try await offer("large.bin", bytes: 60_000)["taken"] == false)
        #expect(try await offer("../../escape.bin", bytes: 10)["taken"] == false)
        #expect(try await offer(".hidden", bytes: 10)["taken"] == false)
        #expect(try await page.evaluate("sky.opened").list.count == 1, "no second channel is opened to an old client")

        // Leaving in the middle of a file leaves its beginning.
        _ = try await page.evaluate(
          "(() => { \(TestFile.script(bytes: 49_000, seed: 5)); sky.offerFile('\(id)', 'half.bin', bytes, 30000); })()")
        let part = received.appendingPathComponent("half.bin.part")
        try await eventually("the beginning of a file", within: .seconds(5)) {
          ((try? Data(contentsOf: part).count) ?? 0) > 5_000 ? true : nil
        }
        await page.close()
        try await scenario.logged("A file broke off", by: bot)
        #expect(try await bot.terminate().ending == .exit(0))
        let entries = try String(contentsOf: received.appendingPathComponent("received.jsonl"), encoding: .utf8)
          .split(separator: "\n").map { try JSON(parsing: String($0)) }
        #expect(entries.map { $0["complete"] } == [true, false])
        #expect(entries.last?["file"] == "half.bin.part")
        #expect(try TestFile.sha256(of: part) == entries.last?["sha256"].string)
        #expect(try FileManager.default.contentsOfDirectory(atPath: received.path).count == 3)
      }
    }

    @Test(
      "in a room of two pages and two bots, chat reaches all and files arrive whole at 5 % loss, beside whole recordings",
      .enabled(if: Machine.hasChromium))
    func room() async throws {
      let limit: Duration = .seconds(30) + TestFile.patience * 2
      try await Scenario.run("44 a room with chat, files and loss", limit: limit) { scenario in
        let server = try await scenario.server()
        let relay = try await scenario.relay(to: server, seed: 7)
        await relay.impair(.init(loss: 0.05, delay: .milliseconds(5)))
        let offered = try TestFile(bytes: TestFile.large, seed: 6, name: "bot.bin", in: scenario.folder)
        let received = scenario.folder.appendingPathComponent("received")
        let folder = await scenario.recordings()
        let recorder = try await scenario.bot(
          in: "100", of: server, via: relay, ["--record", folder.path, "--receive-files", received.path],
          name: "recorder")
        let chromium = try await scenario.chromium()
        let one = try await scenario.call(in: chromium, room: "100", server: server, camera: .flashing)
        let oneID = try await one.joined()
        let two = try await scenario.call(in: chromium, room: "100", server: server, camera: .flashing)
        let twoID = try await two.joined()
        for call in [one, two] {
          try await call.connected(2)
          _ = try await call.page.evaluate("call.acceptFiles = true")
        }
        _ = try await scenario.bot(
          in: "100", of: server, via: nil, ["--say", "from a bot", "--send-file", offered.url.path], name: "sender")
        let begun = ContinuousClock.now
        for call in [one, two] {
          let file = try await eventually("the bot's file", within: TestFile.patience) {
            try await call.page.evaluate("call.files()").list.first { $0["state"] == "received" }
          }
          #expect(file["sha256"].string == offered.sha256)
        }
        let taken = ContinuousClock.now
        let sent = try await one.page.evaluate(
          "(async () => { \(TestFile.script(bytes: TestFile.large, seed: 8)); const result = await call.offerFile({ name: "
            + "'page.bin', bytes }); return { sha256: await \(TestFile.digest("bytes")), states: "
            + "Object.values(result).map((one) => one.state).sort() }; })()", within: TestFile.patience * timeoutFactor)
        await scenario.note(
          """
          measured: \(TestFile.large) bytes from a bot to both pages in \((taken - begun).inSeconds) s, from a page to the \
          other page and at 5 % loss to a bot in \((ContinuousClock.now - taken).inSeconds) s
          """)
        #expect(sent["states"].list.map(\.string) == ["received", "received", "refused"])
        #expect(try TestFile.sha256(of: received.appendingPathComponent("page.bin")) == sent["sha256"].string)
        let copy = try #require(
          try await two.page.evaluate("call.files()").list.first { $0["name"] == "page.bin" })
        #expect(copy["sha256"] == sent["sha256"])
        _ = try await two.page.evaluate("call.say('from a page')")
        try await eventually("chat on the other page", within: .seconds(10)) {
          try await one.page.evaluate("call.messages()").list.map { $0["text"].string }.contains("from a page")
            ? true : nil
        }
        try await scenario.logged("from a page", by: recorder)
        // A page that makes a file of 20 MB paints nothing meanwhile.
        var pause = 0.0
        for call in [one, two] {
          _ = try await call.leave()
          pause = max(pause, try await call.page.evaluate("window.longestPaintingPause").double ?? 0)
        }
        await scenario.note("measured: the longest pause of a page \(pause) s")
        #expect(try await recorder.terminate().ending == .exit(0))
        let recordings = try folder.userRecordings()
        try #require(recordings.count == 2)
        for recording in recordings {
          try Judgement(userRecording: recording, scenario: scenario, name: "a page").expectValidFiles()
          let lost = recording.manifest["tracks"].list.map { $0["framesLost"].int ?? 0 }
          await scenario.note("measured: frames lost \(lost)")
          let stall = await scenario.stall / 1000
          #expect((recording.webm.video?.longestGap ?? 9) < 1 + pause + stall, .onQuietMachine("no long gap"))
        }
        for user in [oneID, twoID] {
          let lines = try String(
            contentsOf: folder.url.appendingPathComponent("\(user).chat.jsonl"), encoding: .utf8)
          #expect(lines.contains("from a page") && lines.contains("from a bot"), "\(lines)")
        }
      }
    }
  }
}

/// A file with pseudorandom bytes.
struct TestFile {
  let url: URL
  let sha256: String

  /// The size of a file that takes some seconds at 5 % loss; CHATBOT_FILE_BYTES for another.
  static let large = ProcessInfo.processInfo.environment["CHATBOT_FILE_BYTES"].flatMap { Int($0) } ?? 20_000_000
  /// How long it may take: at 5 % loss and 10 ms Chromium sends about 400 kB/s, so 20 MB take 50 s.
  static let patience = Duration.seconds(30 + large / 400_000)

  init(bytes count: Int, seed: UInt64, name: String, in folder: URL) throws {
    url = folder.appendingPathComponent(name)
    var generator = SeededGenerator(seed: seed)
    var data = Data(capacity: count)
    while data.count < count { withUnsafeBytes(of: generator.next()) { data.append(contentsOf: $0) } }
    try data.prefix(count).write(to: url)
    sha256 = try Self.sha256(of: url)
  }

  /// Returns the digest that coreutils compute.
  static func sha256(of url: URL) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/sha256sum")
    process.arguments = [url.path]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return String(text.prefix(64))
  }

  /// A script that defines `bytes`.
  static func script(bytes: Int, seed: Int) -> String {
    // A loop takes a tenth of the time of Uint8Array.from, in which a page shows no frame.
    "const bytes = new Uint8Array(\(bytes)); for (let i = 0, state = \(seed); i < bytes.length; i++) { state = (state * "
      + "1103515245 + 12345) & 0x7fffffff; bytes[i] = state >> 16; }"
  }

  /// A script that computes the digest of bytes.
  static func digest(_ bytes: String) -> String {
    "crypto.subtle.digest('SHA-256', \(bytes)).then((hash) => [...new Uint8Array(hash)].map((one) => "
      + "one.toString(16).padStart(2, '0')).join(''))"
  }
}
