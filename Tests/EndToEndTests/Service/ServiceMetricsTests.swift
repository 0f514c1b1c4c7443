import Foundation
import HTTPTransport
import NIOHTTP1
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// The metrics of the built service, read by Prometheus.
  @Suite("the metrics of the service") struct ServiceMetricsTests {
    private static let hasPrometheus = ["prometheus", "promtool"].allSatisfy {
      FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
    }

    /// The value of a query that has one result.
    private func value(of query: String, at address: String) async throws -> Double? {
      var allowed = CharacterSet.alphanumerics
      allowed.insert(charactersIn: "-._~")
      let escaped = query.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
      let answer = try await HTTPClient().send(
        HTTPRequest(.GET, HTTPURL("\(address)/api/v1/query?query=\(escaped)")))
      return try JSON(parsing: answer.text)["data"]["result"][0]["value"][1].string.flatMap(Double.init)
    }

    @Test(
      "Prometheus reads them for a while without a fault, with the alerts of this repository",
      .enabled(if: hasPrometheus, "Prometheus is missing: apt-get install prometheus"))
    func scraping() async throws {
      let seconds = ServiceTestForm.count(short: 6, whole: 60)
      try await Scenario.run("96 Prometheus", limit: .seconds(60 + seconds)) { scenario in
        let server = try await scenario.server()
        _ = try await scenario.bot(
          in: "100", of: server, ["--play", "pattern", "--size", "160x120", "--fps", "15"], name: "user")
        let service = try await RunningService.start(scenario, servers: ["main": server])
        let job = try await service.submit(#"{"kind": "record", "room": "100"}"#)
        try await service.wait(job, for: "running")

        let token = scenario.folder.appendingPathComponent("viewer.token")
        try await service.makeToken("prometheus", role: "viewer").write(to: token, atomically: true, encoding: .utf8)
        let rules = BuiltProgram.repository.appendingPathComponent("deploy/alerts.yml")
        let settings = scenario.folder.appendingPathComponent("prometheus.yml")
        let text = """
          global: {scrape_interval: 1s, evaluation_interval: 1s}
          rule_files: ["\(rules.path)"]
          scrape_configs:
            - job_name: chatbot
              authorization: {credentials_file: "\(token.path)"}
              static_configs: [{targets: ["\(service.address.replacing("http://", with: ""))"]}]

          """
        try text.write(to: settings, atomically: true, encoding: .utf8)
        let port = try await scenario.network.freePort()
        let address = "http://127.0.0.1:\(port)"
        let prometheus = try await scenario.program(
          "prometheus",
          [
            "prometheus", "--config.file=\(settings.path)", "--web.listen-address=127.0.0.1:\(port)",
            "--storage.tsdb.path=\(scenario.folder.appendingPathComponent("prometheus").path)",
          ])
        try await eventually("first scrape", within: .seconds(20)) {
          try #require(prometheus.isRunning)
          return (try? await value(of: "up", at: address)) == 1 ? true : nil
        }
        try await sleepOnEventLoop(for: .seconds(seconds))
        #expect(try await value(of: "min_over_time(up[2m])", at: address) == 1)
        #expect(try await value(of: "count_over_time(up[2m])", at: address) ?? 0 >= Double(seconds) / 2)
        #expect(try await value(of: "chatbot_users", at: address) == 1)
        #expect(try await value(of: "chatbot_jobs{state=\"running\"}", at: address) == 1)
        #expect(try await value(of: "rate(chatbot_frames_total[30s]) > 1", at: address) != nil)
        let targets = try JSON(
          parsing: try await HTTPClient().send(HTTPRequest(.GET, HTTPURL("\(address)/api/v1/targets"))).text)
        #expect(targets["data"]["activeTargets"].list.map { $0["lastError"].string } == [""])
        let groups = try JSON(
          parsing: try await HTTPClient().send(HTTPRequest(.GET, HTTPURL("\(address)/api/v1/rules"))).text)
        let alerts = groups["data"]["groups"].list.flatMap { $0["rules"].list }
        #expect(alerts.count > 10)
        for alert in alerts {
          #expect(alert["health"] == "ok", "\(alert["name"]) \(alert["lastError"])")
          // An alert may wait for its time: the machine of a test is small.
          #expect(alert["state"] != "firing", "\(alert["name"]) \(alert["lastError"])")
        }

        let metrics = scenario.folder.appendingPathComponent("metrics")
        try await service.request(.GET, "/metrics", token: service.adminToken).text
          .write(to: metrics, atomically: true, encoding: .utf8)
        let check = try ExternalTool.run("sh", ["-c", "promtool check metrics <\"$0\"", metrics.path])
        #expect(check.status == 0 && check.errors.isEmpty, "\(check.output)\(check.errors)")
        let listed = try String(contentsOf: metrics, encoding: .utf8)
        #expect(!listed.contains(job) && !listed.contains("\"100\""), "no label names a job or a room")
        try await service.stop(job)
        try await service.wait(job, for: "finished")
        #expect(try await service.end(SIGTERM) == .exit(0))
        await service.forgetProcesses()
      }
    }
  }
}
