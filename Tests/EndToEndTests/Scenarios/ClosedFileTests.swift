import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// Closed recordings of calls with changing devices.
  @Suite("a call in which devices change") struct ClosedFileTests {
    /// One page, alone in a room with a recording bot, and the actions of its user.
    private struct Part: Sendable {
      let name: String
      /// Set before the page's scripts run.
      var setting = ""
      /// A JavaScript expression; the part ends when its promise settles.
      let actions: String
    }

    private struct Result: Sendable {
      let part: Part
      let files: UserFiles
      let report: CallReport
      /// Milliseconds since 1970.
      let origin: Double
      /// Seconds since the origin.
      let flashes: [Double]
      let steps: [JSON]
    }

    @Test(
      "camera and microphone are switched, sizes change, and every file is as long as the call and plays to its end",
      .enabled(if: Machine.hasChromium))
    func devicesChange() async throws {
      try await Scenario.run("16 devices change") { scenario in
        let browser = try await scenario.chromium()
        let results = try await calls(
          [
            Part(
              name: "sizes",
              actions: """
                (async () => {
                  for (const factor of [1, 2, 1.5, 1]) { await devices.shrink(factor); await devices.sleep(2.5); }
                  return [];
                })()
                """),
            // Switching one device does not affect the other, and both are never off at the same time for long.
            Part(
              name: "switches",
              actions: """
                (async () => {
                  const switching = async (kind, wait) => {
                    const steps = [];
                    await devices.sleep(wait);
                    for (const action of ['disable', 'remove', 'mute']) {
                      steps.push(await devices[action](kind, 2));
                      await devices.sleep(1.5);
                    }
                    return steps;
                  };
                  return Promise.all([switching('video', 1.5), switching('audio', 3.5)]);
                })()
                """),
          ], by: browser, in: scenario)
        _ = try await concurrently(results) { result in
          if result.part.name == "sizes" {
            try await judgeSizes(result, by: browser, in: scenario)
          } else {
            try await judgeSwitches(result, by: browser, in: scenario)
          }
        }
      }
    }

    @Test(
      "audio only, video only and unsent silence yield files as long as the call",
      .enabled(if: Machine.hasChromium))
    func parts() async throws {
      try await Scenario.run("17 parts of a call") { scenario in
        let browser = try await scenario.chromium()
        let wait = "devices.sleep(7).then(() => [])"
        let results = try await calls(
          [
            Part(name: "audio alone", setting: "window.devicesWanted = 'audio';", actions: wait),
            Part(name: "video alone", setting: "window.devicesWanted = 'video';", actions: wait),
            Part(name: "dtx", setting: "window.wantsDTX = true;", actions: wait),
          ], by: browser, in: scenario)

        let audio = results[0]
        let ogg = try #require(audio.files.oggs.first)
        #expect(audio.files.webms.isEmpty)
        #expect(audio.files.oggs.count == 1)
        try await expectLength(ogg, audio, in: scenario)
        #expect(try ogg.ogg().isValid)
        try await expectInPlace(ogg, audio, in: scenario)

        let videoFrame = results[1]
        let webm = try #require(videoFrame.files.webms.first)
        #expect(videoFrame.files.oggs.isEmpty)
        #expect(webm.audio == nil)
        try await expectLength(webm, videoFrame, in: scenario)
        try await expectInPlace(webm, videoFrame, in: scenario)
        try await playThrough(webm, by: browser, in: scenario)

        let dtx = results[2]
        let packets = dtx.report.audioPacketsSent
        await scenario.note(
          "measured: dtx: \(packets) audio packets sent in \(String(format: "%.1f", dtx.report.length)) s")
        #expect(Double(packets) < 45 * dtx.report.length, "silence is not sent")
        for file in dtx.files.webms + dtx.files.oggs {
          try await expectLength(file, dtx, in: scenario)
          try await expectInPlace(file, dtx, in: scenario)
        }
        #expect(dtx.files.gaps("audio").contains { $0["reason"] == "dtx" }, "the manifest lists the silence")
        try await playThrough(try #require(dtx.files.webms.first), by: browser, in: scenario)
      }
    }

    // MARK: Calling

    /// Runs all parts at the same time, each in its own room.
    private func calls(_ parts: [Part], by browser: Chromium, in scenario: Scenario) async throws -> [Result] {
      let server = try await scenario.server()
      return try await withThrowingTaskGroup(of: (Int, Result).self) { group in
        for (index, part) in parts.enumerated() {
          let folder = await scenario.recordings(part.name)
          let room = "room-\(index)"
          let bot = try await scenario.bot(in: room, of: server, ["--record", folder.path], name: "bot \(part.name)")
          let page = try await scenario.page(of: browser, camera: .flashing)
          try await page.addStartScript(part.setting + "\n" + Pages.script("device-switches"))
          let call = CallPage(page: page, browser: browser.name)
          try await call.enter(room: room, at: server.pageAddress)
          try await call.connected()
          group.addTask {
            let steps = try await page.evaluate(part.actions, within: .seconds(40)).list
            let origin = try await page.evaluate("performance.timeOrigin").double ?? .nan
            let report = try #require(try await call.leave().first)
            // The page flashes until it has left.
            let flashes = try await page.evaluate("window.flashTimes").list.compactMap(\.double)
            try await sleepOnEventLoop(for: .milliseconds(500))
            #expect(try await bot.terminate().ending == .exit(0))
            let description = try #require(folder.files("json").first)
            let files = try UserFiles(describedBy: description)
            return (
              index, Result(part: part, files: files, report: report, origin: origin, flashes: flashes, steps: steps)
            )
          }
        }
        let results = try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        return parts.indices.compactMap { results[$0] }
      }
    }

    // MARK: Judging

    /// - Parameter pauses: the intervals in which tracks were switched off, as in `UserFiles.PageActivity`.
    private func expectInPlace(
      _ file: Recording, _ result: Result, pauses: [String: [ClosedRange<Double>]] = [:], in scenario: Scenario
    ) async throws {
      let activity = UserFiles.PageActivity(
        origin: result.origin / 1000, end: result.report.reportedAt / 1000,
        flashes: result.flashes, pauses: pauses)
      try await result.files.expectInPlace(file, activity, name: result.part.name, in: scenario)
    }

    private func expectLength(_ file: Recording, _ result: Result, in scenario: Scenario) async throws {
      let kind = file.file.pathExtension
      await scenario.note(
        String(
          format: "measured: %@: %@ of %.2f s for a call of %.2f s", result.part.name, kind, file.duration,
          result.report.length))
      #expect(
        Judgement.near(file.duration, result.report.lengths, stall: await scenario.stall / 1000),
        .onQuietMachine("\(result.part.name): as long as the call"))
      #expect(try file.decodingErrors() == "")
      if file.video != nil {
        let matroska = try file.matroska()
        #expect(matroska.isValid && matroska.hasCues && matroska.hasDuration)
      }
    }

    private func judgeSizes(_ result: Result, by browser: Chromium, in scenario: Scenario) async throws {
      let webm = try #require(result.files.webms.first)
      let sizes = result.files.track("video")["sizes"].list.map { "\($0["width"].int ?? 0)x\($0["height"].int ?? 0)" }
      await scenario.note("measured: sizes: \(sizes.joined(separator: " "))")
      #expect(sizes.contains("320x240") && sizes.contains("160x120") && sizes.last == "320x240")
      #expect(webm.video?.width == 320 && webm.video?.height == 240, "the header states the largest size")
      try await expectLength(webm, result, in: scenario)
      try await expectInPlace(webm, result, in: scenario)
      try await playThrough(webm, sizes: Set(sizes), by: browser, in: scenario)
    }

    /// Three ways to switch off: the first still sends, the second stops sending, the third also signals it.
    private func judgeSwitches(_ result: Result, by browser: Chromium, in scenario: Scenario) async throws {
      let start = try #require(result.files.manifest.date("start"))
      let steps = zip(["video", "audio"], result.steps).map { ($0, $1.list.map(Self.pause)) }
      #expect(steps.map(\.1.count) == [3, 3])
      for file in result.files.webms + result.files.oggs {
        try await expectLength(file, result, in: scenario)
        try await expectInPlace(file, result, pauses: Dictionary(uniqueKeysWithValues: steps), in: scenario)
      }
      for (kind, pauses) in steps {
        let gaps = result.files.gaps(kind)
        for (pause, reason) in zip(pauses.dropFirst(), ["senderPaused", "muted"]) {
          let (from, to) = (pause.lowerBound - start, pause.upperBound - start)
          let gap = gaps.max { overlap($0, from, to) < overlap($1, from, to) } ?? .null
          await scenario.note(
            String(
              format: "measured: %@ off from %.2f to %.2f s; the manifest says %@ from %.2f for %.2f s", kind, from, to,
              gap["reason"].string ?? "nothing", gap["start"].double ?? .nan, gap["duration"].double ?? .nan))
          #expect(gap["reason"].string == reason, "\(kind)")
          #expect(
            overlap(gap, from, to) > 0.8 * (to - from),
            .onQuietMachine("the gap of \(kind) is where nothing was sent"))
        }
      }
      try await playThrough(try #require(result.files.webms.first), by: browser, in: scenario)
    }

    /// Returns the interval in which a step switched a device off, in seconds since 1970.
    private static func pause(_ step: JSON) -> ClosedRange<Double> {
      let from = (step["from"].double ?? 0) / 1000
      return from...max(from, (step["to"].double ?? 0) / 1000)
    }

    private func overlap(_ gap: JSON, _ from: Double, _ to: Double) -> Double {
      let start = gap["start"].double ?? 0
      return max(0, min(to, start + (gap["duration"].double ?? 0)) - max(from, start))
    }

    /// Checks that Chromium plays a file to its end and can seek to any position.
    private func playThrough(
      _ recording: Recording, sizes: Set<String> = [], by browser: Chromium, in scenario: Scenario
    ) async throws {
      let page = try await scenario.page(of: browser)
      try await page.open(Pages.url("player.html").absoluteString)
      let file = try JSON.string(recording.file.absoluteString).text
      let played = try await page.evaluate("playThrough(\(file), [0.5, 0.1, 0.9])", within: .seconds(30))
      let name = recording.file.deletingLastPathComponent().lastPathComponent
      await scenario.note(
        String(
          format: "measured: %@: Chromium plays %d frames to %.2f s of %.2f s", name, played["pictures"].int ?? 0,
          played["end"].double ?? .nan, recording.duration))
      #expect(abs((played["duration"].double ?? 0) - recording.duration) < 0.1)
      #expect(abs((played["end"].double ?? 0) - recording.duration) < 0.1, "to its end")
      for seek in played["seeks"].list {
        #expect(abs((seek["at"].double ?? 0) - (seek["to"].double ?? 1)) < 0.1)
        #expect(seek["hasPicture"] == true)
      }
      #expect(played["seeks"].list.count == 3)
      #expect(sizes.isSubset(of: Set(played["sizes"].list.compactMap(\.string))), "each size is shown")
      await page.close()
    }
  }
}
