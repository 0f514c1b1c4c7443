import Foundation
import NIOHTTP1
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// What the built service sends to receivers, which verify it in Python.
  @Suite(
    "the webhooks of jobs", .enabled(if: WebhookReceiver.isInstalled, Comment(rawValue: WebhookReceiver.missing ?? "")))
  struct ServiceWebhookTests {
    private static let pattern = ["--play", "pattern", "--size", "160x120", "--fps", "15"]
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    /// A service whose receivers are on this machine.
    private func start(
      _ scenario: Scenario, _ server: Server, defaults: String = ""
    ) async throws -> RunningService {
      let file = scenario.folder.appendingPathComponent("app.secret")
      try "\(Self.secret)\n".write(to: file, atomically: true, encoding: .utf8)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
      return try await RunningService.start(
        scenario, servers: ["main": server],
        settings: "webhooks: {allowPrivate: true, secrets: {app: \(file.path)}, defaults: [\(defaults)]}")
    }

    private func deliveries(_ service: RunningService, _ query: String) async throws -> [JSON] {
      try await service.send(.GET, "/v1/deliveries?limit=200&\(query)").json["deliveries"].list
    }

    @Test("each event reaches a receiver that fails, hangs or is away with the service, in order, after its object")
    func events() async throws {
      try await Scenario.run("90 webhooks", limit: .seconds(180)) { scenario in
        let server = try await scenario.server()
        let folder = scenario.folder.appendingPathComponent(
          ServiceBackends.areOfCluster ? "service bucket" : "service/data/store")
        let receiver = try await WebhookReceiver(secrets: [Self.secret], store: folder.path)
        let url = "http://127.0.0.1:\(receiver.port)"
        let service = try await start(scenario, server)
        for number in 1...2 {
          _ = try await scenario.bot(in: "100", of: server, Self.pattern, name: "user \(number)")
        }
        let receivers = ["half", "hang", "redirect", "gone"].map { #"{"url": "\#(url)/\#($0)", "secret": "app"}"# }
        let job = try await service.submit(
          #"{"kind": "record", "room": "100", "labels": {"meeting": "42"}, "webhooks": [\#(receivers.joined(separator: ", "))]}"#
        )
        try await service.wait(job, for: "running")
        try await receiver.wait { requests in requests.contains { $0.path == "/half" && $0.status == 204 } }
        // What it was sending is sent again.
        _ = try await service.end(SIGKILL)
        try await service.startAgain()
        try await service.command("pause", job)
        try await service.command("resume", job)
        try await service.stop(job)
        try await service.wait(job, for: "finished", within: .seconds(60))
        let events = try await service.events(job)
        let types = events.compactMap { $0["type"].string }
        #expect(Set(["job.started", "recording.paused", "recording.file", "recording.finished"]).isSubset(of: types))
        for path in ["/half", "/hang"] {
          try await receiver.wait(within: .seconds(90)) { requests in
            requests.contains { $0.path == path && $0.type == "job.finished" && $0.status == 204 }
          }
        }
        let requests = receiver.requests
        #expect(requests.allSatisfy { $0.isValid == [true] && !$0.isValidWhenChanged && $0.job == job })
        #expect(requests.allSatisfy { $0.hasObject })
        #expect(requests.contains { $0.path == "/hang" && $0.status == 0 })
        for path in ["/half", "/hang"] {
          let taken = requests.filter { $0.path == path && $0.status == 204 }
          var seen: Set<String> = []
          let first = taken.filter { seen.insert($0.id).inserted }
          #expect(first.map(\.sequence) == Array(1...events.count), "\(path)")
          #expect(first.map(\.type) == types)
          #expect(first.map(\.id) == events.compactMap { $0["id"].string })
          let all = requests.filter { $0.path == path }.map(\.sequence)
          #expect(all == all.sorted())
        }
        #expect(!requests.contains { $0.path == "/stolen" })
        #expect(Set(requests.filter { $0.path == "/redirect" }.map(\.sequence)) == [1])
        #expect(requests.count { $0.path == "/gone" } <= 2)
        let unwanted = try await deliveries(service, "job=\(job)&state=disabled")
        #expect(!unwanted.isEmpty && unwanted.allSatisfy { $0["url"].string == "\(url)/gone" })
        let waiting = try await deliveries(service, "job=\(job)&state=pending")
        #expect(waiting.allSatisfy { $0["url"].string == "\(url)/redirect" })
        #expect(waiting.last?["status"].int == 302)
        // One that was delivered is sent again with the same id.
        let delivered = try await deliveries(service, "job=\(job)&state=delivered")
        let last = try #require(
          delivered.first { $0["type"].string == "job.finished" && $0["url"].string == "\(url)/hang" })
        let replayed = try await service.send(.POST, "/v1/deliveries/\(last["id"].string ?? "")/replay", "{}")
        #expect(replayed.status == 202)
        try await receiver.wait { requests in
          requests.count { $0.path == "/hang" && $0.id == last["event"].string && $0.status == 204 } >= 2
        }
      }
    }

    @Test(
      "a job without receivers has those of the settings, and none may be in a private network unless that is allowed")
    func defaults() async throws {
      try await Scenario.run("91 receivers", limit: .seconds(120)) { scenario in
        let server = try await scenario.server()
        let receiver = try await WebhookReceiver(secrets: [Self.secret])
        let url = "http://127.0.0.1:\(receiver.port)"
        let service = try await start(
          scenario, server, defaults: "{url: \"\(url)/ok\", secret: app, events: [job.*]}")
        let job = try await service.submit(#"{"kind": "record", "room": "100"}"#)
        try await service.wait(job, for: "running")
        try await service.stop(job)
        try await receiver.wait { $0.contains { $0.type == "job.finished" } }
        #expect(receiver.requests.allSatisfy { $0.type.hasPrefix("job.") && $0.isValid == [true] })
        let quiet = try await service.submit(#"{"kind": "record", "room": "101", "webhooks": []}"#)
        try await service.wait(quiet, for: "running")
        try await service.stop(quiet)
        try await service.wait(quiet, for: "finished")
        #expect(!receiver.requests.contains { $0.job == quiet })
        #expect(try await service.end(SIGTERM) == .exit(0))
        // The same settings without the permission are an error.
        let settings = scenario.folder.appendingPathComponent("service/config.yaml")
        let text = try String(contentsOf: settings, encoding: .utf8).replacing(
          "allowPrivate: true", with: "allowPrivate: false")
        try text.write(to: settings, atomically: true, encoding: .utf8)
        let program = BuiltProgram.folder.appendingPathComponent("chatbot-service").path
        let refused = try ExternalTool.run(program, ["check-config", settings.path])
        #expect(refused.status == 64)
        #expect(refused.errors.contains("The URL of a receiver begins with https://."), "\(refused.errors)")
      }
    }
  }
}
