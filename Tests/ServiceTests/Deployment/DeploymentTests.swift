import Foundation
import JobProtocol
import OptionValues
import PrometheusText
import SQLStore
import TestSupport
import Testing

@testable import Service

@Suite("The files for an installation")
struct DeploymentTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("deploy")

  private static func text(_ name: String) throws -> String {
    try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
  }

  /// The values of a key of the unit file, in their order.
  private static func unit(_ key: String) throws -> [String] {
    try text("chatbot-service.service").split(separator: "\n").filter { $0.hasPrefix("\(key)=") }
      .map { String($0.dropFirst(key.utf8.count + 1)) }
  }

  @Test func `the installed settings can be used, and keep their data in the folder of the unit`() throws {
    let settings = try ServiceConfiguration(yaml: try Self.text("service.yaml"))
    #expect(settings.problem == nil)
    #expect(
      try Self.unit("StateDirectory").first?.split(separator: " ").first.map { "/var/lib/\($0)" } == settings.data)
    #expect(try Self.unit("WorkingDirectory") == [settings.data])
    #expect(try Self.unit("Environment").contains("\(ServiceConfiguration.fileVariable)=/etc/chatbot/service.yaml"))
  }

  @Test func `the unit file leaves job processes alone and waits for a drain`() throws {
    #expect(try Self.unit("KillMode") == ["process"])
    #expect(try Self.unit("OOMPolicy") == ["continue"])
    #expect(try Self.unit("Restart") == ["always"])
    #expect(try Self.unit("ExecReload").last == "/bin/kill -s USR2 $MAINPID")
    let minutes = try #require(try Self.unit("TimeoutStopSec").first?.replacing("min", with: ""))
    #expect(try #require(Int64(minutes)) * 60_000 > ServiceConfiguration().drainTimeout.milliseconds)
    // What chatbot-media isolates itself with.
    let spaces = try #require(try Self.unit("RestrictNamespaces").first).split(separator: " ")
    #expect(Set(spaces).isSuperset(of: ["user", "mnt", "net", "ipc"]))
    let calls = try #require(try Self.unit("SystemCallFilter").first).split(separator: " ")
    #expect(Set(calls).isSuperset(of: ["@mount", "seccomp"]))
  }

  @Test func `the unit file starts commands that exist`() throws {
    let program = (Bundle.main.executableURL?.deletingLastPathComponent() ?? Self.folder)
      .appendingPathComponent("chatbot-service").path
    let commands = try (Self.unit("ExecStart") + Self.unit("ExecReload")).map { $0.split(separator: " ") }
      .filter { $0.first == "/usr/bin/chatbot-service" }
    #expect(commands.count == 2)
    for command in commands {
      let help = try ExternalTool.run(program, command.dropFirst().map { String($0) } + ["--help"])
      #expect(help.status == 0, "\(command): \(help.errors)")
      #expect(help.output.contains("USAGE: \(command.joined(separator: " ").dropFirst("/usr/bin/".utf8.count))"))
    }
  }

  /// What alerts and their tests may select: the metrics with their labels and the values of these.
  private static let labels: [String: [String]] = [
    "state": JobState.allCases.map(\.rawValue) + ServiceMetrics.nodeStates,
    "reason": JobEndReason.allCases.map(\.rawValue),
    "resource": CapacityResource.allCases.map(\.rawValue),
  ]

  @Test(arguments: ["alerts.yml", "alerts.test.yml"])
  func `alerts name metrics, labels and values that the service has`(file: String) throws {
    let text = try Self.text(file)
    let families = Dictionary(uniqueKeysWithValues: ServiceMetrics.families.map { ($0.name, $0.kind) })
    var named = 0
    for match in text.matches(of: /\bchatbot_[a-z_]+/) {
      let name = String(match.output)
      named += 1
      let base = ["_bucket", "_sum", "_count"].first { name.hasSuffix($0) }.map { String(name.dropLast($0.count)) }
      let isHistogram = base.map { families[$0] == .histogram } ?? false
      #expect(isHistogram || (families[name] != nil && families[name] != .histogram), "\(file): \(name)")
    }
    #expect(named > 20)
    for match in text.matches(of: /(state|reason|resource)(?:=~|=|!=)"([^"]+)"/) {
      for value in match.output.2.split(separator: "|") {
        let known = try #require(Self.labels[String(match.output.1)])
        #expect(known.contains(String(value)), "\(file): \(match.output.0)")
      }
    }
  }

  @Test func `each alert has a test in which it fires, and is silent in one`() throws {
    let tests = try Self.text("alerts.test.yml")
    let alerts = try Self.text("alerts.yml").matches(of: /- alert: (\w+)/).map { String($0.output.1) }
    #expect(alerts.count > 10)
    for alert in alerts {
      #expect(
        tests.contains("alertname: \(alert)\n        exp_alerts:\n          - exp_labels"), "\(alert) never fires")
      #expect(tests.contains("alertname: \(alert), exp_alerts: []"), "\(alert) is never silent")
    }
  }

  @Test(
    .enabled(
      if: FileManager.default.isExecutableFile(atPath: "/usr/bin/promtool"),
      "/usr/bin/promtool is missing: apt-get install prometheus"))
  func `promtool accepts the alerts, their tests and the metrics`() async throws {
    for arguments in [["check", "rules", "alerts.yml"], ["test", "rules", "alerts.test.yml"]] {
      let path = Self.folder.appendingPathComponent(arguments[2]).path
      let result = try ExternalTool.run("promtool", Array(arguments.prefix(2)) + [path], limit: 300)
      #expect(result.status == 0, "\(result.output)\(result.errors)")
    }
    let service = try await ServiceFixture()
    _ = try await service.client("viewer").send("GET", "/v1/jobs", body: nil)
    let metrics = try await service.client("viewer").send("GET", "/metrics", body: nil)
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("metrics-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data(metrics.body).write(to: file)
    let result = try ExternalTool.run("sh", ["-c", "promtool check metrics <\"$0\"", file.path])
    #expect(result.status == 0 && result.errors.isEmpty, "\(result.output)\(result.errors)")
  }
}
