import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// The files that a check writes, read by programs of other projects.
  @Suite("reports of a check") struct CheckReportTests {
    @Test(
      "another parser reads the JUnit file, and the page shows and plays everything without a network",
      .enabled(if: Machine.hasChromium))
    func files() async throws {
      try await Scenario.run("24 reports of a check") { scenario in
        let server = try await scenario.server()
        let browser = try await scenario.chromium()
        let folder = scenario.folder
        let files = ["base.json", "report.xml", "report.html"].map { folder.appendingPathComponent($0).path }
        let base = try await scenario.check(
          in: "before", of: server, seconds: 3, ["--play", "pattern", "--size", "320x240", "--fps", "20"], name: "base")
        let before = try await scenario.call(in: browser, room: "before", server: server, camera: .faulty(.none))
        #expect(try await base.verdict().ending == .exit(0), .verdict)
        await before.page.close()

        let check = try await scenario.check(
          in: "now", of: server, seconds: 4,
          [
            "--play", "pattern", "--size", "320x240", "--fps", "20", "--baseline", files[0], "--junit", files[1],
            "--html", files[2],
            "--record", folder.appendingPathComponent("recordings").path, "--impair", "1s: loss=10%; 2s: none",
          ])
        let now = try await scenario.call(in: browser, room: "now", server: server, camera: .faulty(.slow))
        let verdict = try await check.verdict()
        await now.page.close()
        await scenario.note("measured: \(verdict.summary)")
        #expect(verdict.ending == .exit(1), .verdict)
        #expect(verdict.failed.contains("video.fps"))
        #expect(verdict.peer()["recordings"].list.count == 1)
        let worse = verdict.json["comparison"]["worse"].list.compactMap { $0["measurement"].string }
        #expect(worse.contains("video.fps"), "compared with the baseline")
        try Self.expectJUnit(files[1], of: verdict)
        try await Self.expectPage(files[2], of: verdict, in: browser, scenario)
      }
    }

    // MARK: JUnit

    private static func expectJUnit(_ file: String, of verdict: CheckVerdict) throws {
      func ask(_ path: String) throws -> String {
        let answer = try ExternalTool.run("xmllint", ["--nonet", "--xpath", path, file])
        try #require(answer.status == 0, "\(answer.errors)")
        return answer.output.trimmingCharacters(in: .whitespacesAndNewlines)
      }
      // One test case for each result, and one for whether there was a call.
      #expect(try ask("count(//testcase)") == "\(verdict.judged + 1)")
      #expect(try ask("string(/testsuites/@tests)") == "\(verdict.judged + 1)")
      #expect(try ask("sum(/testsuites/testsuite/@tests)") == "\(verdict.judged + 1)")
      #expect(try ask("count(//testcase/failure)") == "\(verdict.failed.count)")
      #expect(try ask("string(/testsuites/@failures)") == "\(verdict.failed.count)")
      #expect(try ask("count(//testcase/error)") == "0")
      #expect(try ask("count(//testcase[not(@name) or not(@classname)])") == "0")
      let failed = verdict.json["results"].list.filter { $0["outcome"] != "held" }
      for result in failed {
        let (rule, sentence) = (result["rule"].string ?? "", result["sentence"].string ?? "")
        let message = try ask("string(//testcase[@name='\(rule)']/failure/@message)")
        #expect(!message.isEmpty && (message.contains(sentence) || sentence.contains(message)), "\(rule)")
      }
    }

    // MARK: HTML

    private static func expectPage(
      _ file: String, of verdict: CheckVerdict, in browser: Chromium, _ scenario: Scenario
    ) async throws {
      let page = try #require(try await browser.newPage() as? ChromiumPage)
      try await page.open("file://\(file)")
      let text = try await page.evaluate("document.body.innerText").string ?? ""
      #expect(text.contains(verdict.json["summary"].string ?? "?"), "the page shows the verdict")
      for rule in verdict.json["results"].list.compactMap({ $0["rule"].string }) {
        #expect(text.contains(rule), "\(rule)")
      }
      #expect(text.contains("loss=10%"), "the page shows the network emulation")
      let seen = try await page.evaluate(
        """
        ({
          height: document.documentElement.scrollHeight,
          width: document.documentElement.scrollWidth - document.documentElement.clientWidth,
          lanes: document.querySelectorAll('.lanes .plot').length,
          pictures: document.images.length,
          broken: [...document.images].filter((image) => !image.complete || image.naturalWidth === 0).length,
          fetched: performance.getEntriesByType('resource').map(({ name }) => name.slice(0, 60))
            .filter((name) => !name.startsWith('data:')),
        })
        """)
      #expect(seen["lanes"].int ?? 0 >= 6, "timelines")
      #expect(seen["pictures"].int ?? 0 >= 3, "a filmstrip")
      #expect(seen["broken"] == 0)
      #expect(seen["fetched"] == [], "nothing is loaded from a network")
      #expect(seen["width"].int ?? 1 <= 0, "nothing exceeds the window")
      let pointed = try await page.evaluate(Self.pointing)
      #expect(pointed["time"].string?.hasPrefix("at ") == true, "pointing shows a time: \(pointed)")

      let played = try await page.evaluate(Self.playing)
      await scenario.note("measured: the page plays \(try played.text)")
      #expect(played.list.count == verdict.peer()["recordings"].list.count)
      for video in played.list {
        #expect(video["problem"] == .null)
        #expect(video["time"].double ?? 0 > 1, "the video plays")
        #expect(video["frames"].int ?? 0 >= 4, "the video has frames")
        #expect(video["width"] == 320)
        #expect(abs((video["duration"].double ?? 0) - 4) < 1.5)
      }
      try await page.call(
        "Emulation.setDeviceMetricsOverride",
        ["width": 1280, "height": seen["height"], "deviceScaleFactor": 1, "mobile": false])
      try await page.screenshot().write(to: scenario.folder.appendingPathComponent("report.png"))
      let errors = await page.errors
      #expect(errors == [])
      await page.close()
    }

    /// Moves the pointer to the middle of the first timeline.
    private static let pointing = """
      (() => {
        const plot = document.querySelector('.lanes .plot');
        plot.scrollIntoView();
        const { left, top, width, height } = plot.getBoundingClientRect();
        plot.dispatchEvent(new PointerEvent('pointermove', {
          bubbles: true, clientX: left + width / 2, clientY: top + height / 2,
        }));
        return { time: document.querySelector('.lanes .time')?.textContent };
      })()
      """

    /// Plays each video for two seconds.
    private static let playing = """
      Promise.all([...document.querySelectorAll('video')].map(async (video) => {
        video.muted = true;
        const problem = await video.play().then(() => null, (error) => `${error}`);
        await new Promise((resolve) => setTimeout(resolve, 2000));
        const frames = video.getVideoPlaybackQuality().totalVideoFrames;
        return { problem, time: video.currentTime, duration: video.duration, width: video.videoWidth, frames };
      }))
      """
  }
}
