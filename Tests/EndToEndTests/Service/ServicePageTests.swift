import Foundation
import HTTPTransport
import NIOCore
import NIOHTTP1
import TestSupport
import Testing

extension EndToEnd {
  /// The operator's page in Chromium.
  @Suite("the page of the service") struct ServicePageTests {
    /// Names as a stranger chooses them, in the hope that they end up in a page, a path, a terminal or a header.
    private static let names = [
      #"<img src=x onerror="window.hostile='name'">"#, "../../../../etc/passwd",
      "\u{202E}gpj.exe\u{1B}[31m\r\nSet-Cookie: a=b",
    ]
    private static let room = #""><svg onload="window.hostile='room'">/../'{{7*7}}🏴‍☠️"#
    private static let labels = [
      "<script>window.hostile='label'</script>": "a",
      "__proto__": #"<iframe srcdoc="<script>parent.hostile='x'</script>">"#,
      "url": "javascript:window.hostile='url'", "emoji": String(repeating: "👾", count: 64),
      "control": "\u{1B}[2J\u{7}\r\nInjected: 1\u{202E}\u{2028}",
    ]
    private static let uniqueKey = #"'"><b onmouseover=window.hostile='key'>"#

    /// What a page must not have: elements of strangers, scripts of strangers that have run, refused loads.
    private static let findings = """
      ({
        hostile: window.hostile ?? null, violations: window.violations ?? [], title: document.title,
        elements: document.querySelectorAll(
          'svg, iframe, object, embed, img:not([src="icon.svg"]), script:not([src="page.js"]), b[onmouseover]').length,
        handlers: [...document.querySelectorAll('*')].filter((element) =>
          [...element.attributes].some((attribute) => attribute.name.startsWith('on'))).length,
        text: document.body.innerText, place: location.origin + location.pathname,
      })
      """

    /// Waits for something on a page.
    private func expect(_ what: String, _ condition: String, on page: any Page) async throws {
      try await eventually(what, within: .seconds(15), every: .milliseconds(100)) {
        try await page.evaluate(condition) == true ? true : nil
      }
    }

    private func expectHarmless(_ page: any Page, _ service: RunningService) async throws -> String {
      let findings = try await page.evaluate(Self.findings)
      #expect(findings["hostile"] == .null, "nothing of a stranger was executed")
      #expect(findings["violations"].list.isEmpty, "\(findings["violations"])")
      #expect(findings["elements"] == 0 && findings["handlers"] == 0)
      #expect(findings["place"].string == "\(service.address)/")
      return findings["text"].string ?? ""
    }

    /// Takes a picture of the page as a person with such a screen sees it.
    private func picture(
      _ name: String, of page: any Page, width: Int, height: Int, isDark: Bool, in folder: URL
    ) async throws {
      let page = try #require(page as? ChromiumPage)
      try await page.call(
        "Emulation.setDeviceMetricsOverride",
        ["width": .number(Double(width)), "height": .number(Double(height)), "deviceScaleFactor": 1, "mobile": false])
      let scheme: JSON = ["name": "prefers-color-scheme", "value": .string(isDark ? "dark" : "light")]
      try await page.call("Emulation.setEmulatedMedia", ["features": [scheme]])
      try await sleepOnEventLoop(for: .milliseconds(300))
      let overflow = try await page.evaluate("document.documentElement.scrollWidth - innerWidth")
      #expect(overflow.int ?? 0 <= 0, "\(name) fits its width")
      try await page.screenshot().write(to: folder.appendingPathComponent("\(name).png"))
    }

    /// Opens the page and gives it the token of the administrator.
    ///
    /// - Parameter script: runs before the page.
    private func signedIn(
      _ scenario: Scenario, _ service: RunningService, script: String? = nil
    ) async throws -> any Page {
      let page = try await scenario.page(of: try await scenario.chromium())
      if let script { try await page.addStartScript(script) }
      try await page.addStartScript(
        "addEventListener('securitypolicyviolation', (event) => (window.violations ??= []).push(event.violatedDirective))"
      )
      try await page.open("\(service.address)/")
      try await expect("form for the token", "!document.getElementById('login').hidden", on: page)
      _ = try await page.evaluate(
        """
        (() => {
          document.getElementById('token').value = '\(try service.adminToken)';
          document.getElementById('login-form').requestSubmit();
        })()
        """)
      return page
    }

    /// The ids of users that a server makes up. Ids that are not ASCII are refused.
    private static let ids = [
      #"<img src=x onerror="window.hostile='id'">"#, "../../../../tmp/id", "'\"><b onclick=hostile()>{{7*7}}",
    ]
    private static let refusedIDs = ["\u{202E}di", String(repeating: "👾", count: 60)]

    /// Answers the first requests for each path with 503, as a service does whose database is away.
    private static let unready = """
      (() => {
        const real = window.fetch;
        const asked = {};
        window.fetch = (path, options) => {
          const place = String(path).replace(/\\?.*/, '');
          asked[place] = (asked[place] ?? 0) + 1;
          window.asked = asked;
          const isRefused = (options?.method ?? 'GET') === 'GET' && asked[place] <= 2;
          return isRefused ? Promise.resolve(new Response('{}', { status: 503 })) : real(path, options);
        };
      })()
      """

    @Test(
      "what the service answers with 503 at first is asked for again, the session and each view",
      .enabled(if: Machine.hasChromium))
    func unready() async throws {
      try await Scenario.run("100 page of a service that is not ready", limit: .seconds(90)) { scenario in
        let server = try await scenario.server()
        let service = try await RunningService.start(scenario, servers: ["main": server])
        let job = try await service.submit(#"{"kind": "record", "room": "100", "startAt": "2099-01-01T00:00:00Z"}"#)
        let page = try await signedIn(scenario, service, script: Self.unready)
        try await expect("list of jobs", "document.querySelectorAll('#jobs tbody tr').length === 1", on: page)
        try await expect("stream of events", "document.getElementById('connection').textContent === 'live'", on: page)
        #expect(try await page.evaluate("asked['/v1/session'] >= 3 && asked['/v1/jobs'] === 3") == true)
        _ = try await page.evaluate("void document.querySelector('#jobs tbody a').click()")
        try await expect("job", "document.getElementById('job-state').textContent === 'scheduled'", on: page)
        #expect(try await page.evaluate("asked['/v1/jobs/\(job)'] === 3") == true)
        _ = try await page.evaluate("void (location.hash = '#webhooks')")
        try await expect("webhooks", "!document.getElementById('no-deliveries').hidden", on: page)
        #expect(try await service.end(SIGTERM) == .exit(0))
      }
    }

    @Test("hostile ids of users are text on the page, in events and in a terminal", .enabled(if: Machine.hasChromium))
    func hostileIDs() async throws {
      try await Scenario.run("99 hostile ids on the page", limit: .seconds(90)) { scenario in
        let peers: JSON = [
          "eventName": "_peers", "data": ["you": "me", "connections": .list(Self.ids.map { .string($0) })],
        ]
        let refused = Self.refusedIDs.map {
          JSON.object(["eventName": "_new_peer", "data": ["socketId": .string($0)]])
        }
        let welcome = try ([peers] + refused).map { try $0.text }
        let hostile = try await ScriptedServer(in: scenario.network) { $0.contains("__join") ? welcome : [] }
        let honest = try await scenario.server()
        let service = try await RunningService.start(
          scenario, servers: ["main": Server(bot: honest.bot, port: hostile.port)])
        let job = try await service.submit(#"{"kind": "record", "room": "100"}"#)
        try await service.wait(job, for: "running")
        let page = try await signedIn(scenario, service)
        try await expect("list of jobs", "document.querySelectorAll('#jobs tbody tr').length === 1", on: page)
        _ = try await page.evaluate("void document.querySelector('#jobs tbody a').click()")
        try await expect("users", "document.querySelectorAll('#users .user').length === 3", on: page)
        let users = try await expectHarmless(page, service)
        for id in Self.ids { #expect(users.contains(id), "\(id)") }
        try await picture("users", of: page, width: 400, height: 1_400, isDark: false, in: scenario.folder)
        // A pause of one user names it as it is.
        _ = try await page.evaluate("void document.querySelector('#users .pause-user').click()")
        let paused = try await eventually("pause", within: .seconds(15)) {
          try await service.events(job).first { $0["type"] == "recording.paused" }
        }
        let named = paused["data"]["users"].list.compactMap(\.string)
        #expect(named.count == 1 && named.allSatisfy { Self.ids.contains($0) }, "\(named)")
        _ = try await expectHarmless(page, service)

        let shown = try await service.command(["jobs", "events", job])
        #expect(shown.status == 0, "\(shown.errors)")
        expectPlain(shown.output)
        try await service.stop(job)
        try await service.wait(job, for: "finished")
        let complaints = await page.errors.filter { !$0.contains("401") }
        #expect(complaints == [])
        expectCleanLog(await service.process.output)
        #expect(try await service.end(SIGTERM) == .exit(0))
        await service.forgetProcesses()
        await hostile.close()
      }
    }

    @Test(
      "hostile names, labels and rooms are text on the page, in keys, logs and headers",
      .enabled(if: Machine.hasChromium))
    func hostileNames() async throws {
      try await Scenario.run("98 hostile names on the page", limit: .seconds(150)) { scenario in
        let server = try await scenario.server()
        for (index, name) in Self.names.enumerated() {
          _ = try await scenario.bot(
            in: Self.room, of: server, ["--play", "pattern", "--size", "160x120", "--fps", "15", "--name", name],
            name: "user \(index)")
        }
        let service = try await RunningService.start(
          scenario, servers: ["main": server], settings: "page: {snapshots: true}")
        let body: JSON = [
          "kind": "record", "room": .string(Self.room), "uniqueKey": .string(Self.uniqueKey),
          "labels": .object(Self.labels.mapValues { .string($0) }),
        ]
        let job = try await service.submit(body.text)
        try await service.wait(job, for: "running")
        let submitted = try await service.job(job)
        #expect(submitted["room"].string == Self.room)
        #expect(submitted["labels"] == .object(Self.labels.mapValues { .string($0) }))

        let page = try await signedIn(scenario, service)
        try await expect("list of jobs", "document.querySelectorAll('#jobs tbody tr').length === 1", on: page)
        try await expect(
          "figures of three users", "document.querySelector('#jobs tbody tr').cells[5].textContent === '3'", on: page)
        let list = try await expectHarmless(page, service)
        #expect(list.contains(#""><svg onload="window.hostile='room'">"#), "\(list)")
        let cookie = try await page.evaluate("document.cookie")
        #expect(cookie == "", "no script reads the token")
        try await picture("list-wide-light", of: page, width: 1_280, height: 800, isDark: false, in: scenario.folder)
        try await picture("list-narrow-dark", of: page, width: 400, height: 800, isDark: true, in: scenario.folder)

        _ = try await page.evaluate("void document.querySelector('#jobs tbody a').click()")
        try await expect(
          "three users with pictures",
          "[...document.querySelectorAll('#users canvas')].filter((canvas) => !canvas.hidden).length === 3", on: page)
        let running = try await expectHarmless(page, service)
        #expect(running.contains(#"<img src=x onerror="window.hostile='name'">"#))
        #expect(running.contains("../../../../etc/passwd"))
        #expect(running.contains("<script>window.hostile='label'</script>"))
        #expect(
          !running.unicodeScalars.contains("\u{202E}") || running.contains("Injected"), "only in a label's own element")
        try await picture("job-wide-dark", of: page, width: 1_280, height: 1_600, isDark: true, in: scenario.folder)
        try await picture("job-narrow-light", of: page, width: 400, height: 2_200, isDark: false, in: scenario.folder)

        // Pause and resume by the page.
        _ = try await page.evaluate("void document.getElementById('pause').click()")
        try await expect("pause", "!document.getElementById('job-paused').hidden", on: page)
        try await expect(
          "no picture of paused users",
          "[...document.querySelectorAll('#users canvas')].every((canvas) => canvas.hidden)", on: page)
        _ = try await page.evaluate("void document.getElementById('resume').click()")
        try await expect("resumption", "document.getElementById('job-paused').hidden", on: page)

        _ = try await page.evaluate("void document.getElementById('stop').click()")
        try await expect("end", "document.getElementById('job-state').textContent === 'finished'", on: page)
        try await expect("files", "document.querySelectorAll('#files tbody tr').length > 6", on: page)
        _ = try await expectHarmless(page, service)
        _ = try await page.evaluate(
          "void [...document.querySelectorAll('#files tbody tr')].find((row) => /[.]webm$/.test(row.cells[0].textContent))"
            + ".querySelector('button').click()")
        try await expect("playback", "document.querySelector('#player video')?.currentTime > 0.3", on: page)
        try await picture("ended-wide-light", of: page, width: 1_280, height: 1_800, isDark: false, in: scenario.folder)
        try await picture("ended-narrow-dark", of: page, width: 400, height: 2_600, isDark: true, in: scenario.folder)
        // The first request asks whether there is a session.
        let complaints = await page.errors.filter { !$0.contains("401") }
        #expect(complaints == [])

        try await expectInPlace(service, job)
        try await expectCleanHeaders(service, job)
        expectCleanLog(await service.process.output)
        #expect(try await service.end(SIGTERM) == .exit(0))
        await service.forgetProcesses()
      }
    }

    /// Checks that all that was stored is below the job's prefix, with plain names, and that nothing else was made.
    private func expectInPlace(_ service: RunningService, _ job: String) async throws {
      let manifest = try JSON(parsing: String(contentsOf: try #require(service.manifests().first), encoding: .utf8))
      #expect(manifest["complete"] == true)
      #expect(manifest["room"].string == Self.room)
      #expect(manifest["labels"] == .object(Self.labels.mapValues { .string($0) }))
      #expect(manifest["users"].list.count == 3)
      let store = service.store
      let files = try FileManager.default.subpathsOfDirectory(atPath: store.path).filter { path in
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: "\(store.path)/\(path)", isDirectory: &isFolder)
          && !isFolder.boolValue
      }
      #expect(files.count == manifest["objects"].list.count + 1)
      for file in files {
        #expect(file.wholeMatch(of: #/[0-9]{4}-[0-9]{2}-[0-9]{2}/[0-9a-z]+/[A-Za-z0-9._=/-]+/#) != nil, "\(file)")
        let parts = file.split(separator: "/", omittingEmptySubsequences: false)
        #expect(parts.contains { $0 == job } && parts.allSatisfy { $0.first != "." && !$0.isEmpty }, "\(file)")
      }
      let made = try FileManager.default.contentsOfDirectory(atPath: service.data.deletingLastPathComponent().path)
      #expect(Set(made) == Set(["config.yaml", "data"] + (ServiceBackends.areOfCluster ? ["credentials"] : [])))
      // What is listed can be read.
      let listed = try await service.send(.GET, "/v1/jobs/\(job)/files").json["files"].list
      #expect(listed.count == manifest["objects"].list.count)
      for file in listed {
        let answer = try await service.request(.GET, file["url"].string ?? "", token: service.adminToken)
        if ServiceBackends.areOfCluster, answer.status == .found {
          #expect(answer.headers.first(name: "Location")?.contains("X-Amz-Expires=300") == true)
          continue
        }
        #expect(answer.status == .ok && answer.body.readableBytes == file["bytes"].int, "\(file["name"])")
        let policy = answer.headers.first(name: "Content-Security-Policy") ?? ""
        #expect(policy.contains("sandbox") && answer.headers.first(name: "X-Content-Type-Options") == "nosniff")
      }
      // The log of the process is JSON, line by line.
      let logs = try await service.request(.GET, "/v1/jobs/\(job)/logs", token: service.adminToken).text
      for line in logs.split(separator: "\n") { #expect(throws: Never.self) { try JSON(parsing: String(line)) } }
    }

    /// Checks that no header is made of what a request names.
    private func expectCleanHeaders(_ service: RunningService, _ job: String) async throws {
      let injected = "%0d%0aX-Injected:%201%0d%0a%0d%0a%3Cscript%3E"
      for path in [
        "/v1/jobs?room=\(injected)", "/v1/jobs?label.a%0d%0aX-Injected=1", "/v1/jobs/\(job)/files/\(injected)",
        "/v1/jobs/\(injected)", "/v1/jobs/\(job)/users/\(injected)/snapshot.png", "/\(injected)",
        "/v1/jobs/\(job)/files/..%2f..%2f..%2f..%2fservice.db", "/v1/jobs/\(job)/files/%2e%2e/%2e%2e/service.db",
        "/../../etc/passwd", "/v1/jobs/\(job)/files/../../../../data/admin.token",
      ] {
        let answer = try await service.request(.GET, path, token: service.adminToken)
        #expect(!answer.headers.contains(name: "X-Injected"), "\(path)")
        let isList = path.hasPrefix("/v1/jobs?")
        #expect([.ok, .notFound, .unprocessableEntity, .conflict].contains(answer.status), "\(path): \(answer.status)")
        #expect(isList || answer.status != .ok, "\(path)")
        #expect(answer.headers.first(name: "Content-Type")?.hasPrefix("application/") == true, "\(path)")
      }
    }

    /// Checks that a text has nothing that a terminal obeys.
    private func expectPlain(_ text: String) {
      for scalar in text.unicodeScalars {
        let isControl = scalar.value < 0x20 && scalar != "\n" || (0x7F...0x9F).contains(scalar.value)
        let isHarmless = !isControl && scalar != "\u{202E}" && scalar != "\u{2028}"
        #expect(isHarmless, "U+\(String(scalar.value, radix: 16))")
        if !isHarmless { return }
      }
    }

    /// Checks that a log has lines of the service only.
    private func expectCleanLog(_ log: String) {
      expectPlain(log)
      for line in log.split(separator: "\n") {
        #expect(line.firstMatch(of: #/^[0-9]{4}-[0-9]{2}-[0-9]{2}T/#) != nil, "\(line)")
      }
    }
  }
}
