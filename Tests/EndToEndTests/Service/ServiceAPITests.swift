import Foundation
import HTTPTransport
import NIOHTTP1
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// The API of the built service, with real jobs behind it.
  @Suite("the API of the service") struct ServiceAPITests {
    /// The Python interpreter with schemathesis and openapi-spec-validator.
    private static let python = ProcessInfo.processInfo.environment["CHATBOT_API_PYTHON"]

    private static let pattern = ["--play", "pattern", "--size", "160x120", "--fps", "15"]

    /// Records a room for some seconds.
    ///
    /// - Returns: the id of the job, which has finished.
    private func recorded(_ service: RunningService) async throws -> String {
      let job = try await service.submit(#"{"kind": "record", "room": "100"}"#)
      try await service.wait(job, for: "running")
      try await eventually("frames", within: .seconds(20)) {
        let live = try await service.send(.GET, "/v1/jobs/\(job)/live")
        return (live.json["users"][0]["counts"]["frames"].int ?? 0) > 10 ? true : nil
      }
      try await service.stop(job)
      try await service.wait(job, for: "finished")
      return job
    }

    private func document(_ service: RunningService) async throws -> (text: String, json: JSON) {
      let answer = try await service.request(.GET, "/openapi.json", token: nil)
      return (answer.text, try JSON(parsing: answer.text))
    }

    @Test(
      "the OpenAPI document is valid, and generated requests get only answers that conform to it",
      .enabled(if: python != nil, "CHATBOT_API_PYTHON names no interpreter: run scripts/install-python-packages.sh."))
    func generatedRequests() async throws {
      let python = try #require(Self.python)
      let limit = ServiceTestForm.isWhole ? Duration.seconds(600) : .seconds(120)
      try await Scenario.run("90 generated requests", limit: limit) { scenario in
        // Few jobs at a time in small rooms, so that the machine has time for requests; other jobs are refused with 503.
        let server = try await scenario.server(["--users-per-room", "3"])
        _ = try await scenario.bot(in: "100", of: server, Self.pattern, name: "user")
        let ports = Int.random(in: 42_000..<57_000)
        let secret = scenario.folder.appendingPathComponent("app.secret")
        try "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n".write(to: secret, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: secret.path)
        let service = try await RunningService.start(
          scenario, servers: ["main": server],
          limits: "{minimumFree: 1MB, cpu: 100, requests: 100000, failures: 100000}",
          settings: """
            media: {udpPorts: \(ports)-\(ports + 5)}
            webhooks: {allowPrivate: true, secrets: {app: \(secret.path)}}
            """)
        let file = scenario.folder.appendingPathComponent("openapi.json")
        try await document(service).text.write(to: file, atomically: true, encoding: .utf8)
        let validation = try ExternalTool.run(python, ["-m", "openapi_spec_validator", file.path])
        #expect(validation.status == 0, "\(validation.output)\(validation.errors)")

        let (kept, deleted) = (try await recorded(service), try await recorded(service))
        let running = try await service.submit(#"{"kind": "record", "room": "100"}"#)
        try await service.wait(running, for: "running")
        let user = try await service.send(.GET, "/v1/jobs/\(kept)/files").json["files"].list.compactMap {
          $0["user"].string
        }.first
        let settings = scenario.folder.appendingPathComponent("schemathesis.toml")
        try Self.settings(
          jobs: (kept, deleted, running), user: user ?? "", token: service.adminToken, origin: service.address
        ).write(to: settings, atomically: true, encoding: .utf8)
        let report = scenario.folder.appendingPathComponent("report.json")
        let requests = ServiceTestForm.count(short: 600, whole: 5_000)
        let seed = ServiceTestForm.isWhole ? UInt32.random(in: 0...UInt32.max) : 1
        let schemathesis = try await scenario.program(
          "schemathesis",
          [
            python, "-c", "from schemathesis.cli import schemathesis; schemathesis()", "--config-file", settings.path,
            "run", "\(service.address)/openapi.json", "--checks", "all", "--seed", "\(seed)", "--max-examples",
            "\(ServiceTestForm.count(short: 3, whole: 200))", "--no-color", "--report", "json", "--report-json-path",
            report.path,
          ],
          environment: [
            "PYTHONPATH": BuiltProgram.repository.appendingPathComponent("Tests/Interop").path,
            "PYTHONDONTWRITEBYTECODE": "1", "CHATBOT_API_TOKEN": try service.adminToken,
          ], folder: scenario.folder)
        let ending = try await schemathesis.ending(within: limit - .seconds(20))
        let generated = try JSON(parsing: String(contentsOf: report, encoding: .utf8))["test_cases"]["generated"].int
        await scenario.note("measured: \(generated ?? 0) requests with the seed \(seed)")
        let failures = schemathesis.output.components(separatedBy: " FAILURES ").dropFirst().joined().prefix(4_000)
        #expect(ending == .exit(0), "\(failures)")
        #expect(generated ?? 0 >= requests)
        #expect(await service.process.isRunning)
        // Some of the jobs would check what they received for long.
        let begun = try await service.send(.GET, "/v1/jobs?limit=200&state=starting,running,stopping").json["jobs"].list
        #expect(try await service.end(SIGUSR2, within: .seconds(10)) == .exit(0))
        for job in begun {
          if let process = try? await service.process(of: job["id"].string ?? "") { kill(process, SIGKILL) }
        }
        await service.forgetProcesses()
      }
    }

    /// The settings of schemathesis: ids that exist for some of the requests, and the statuses of refusals that are documented.
    private static func settings(
      jobs: (kept: String, deleted: String, running: String), user: String, token: String, origin: String
    ) -> String {
      """
      hooks = "openapi_hooks"

      [auth.openapi]
      bearer = { bearer = "${CHATBOT_API_TOKEN}" }

      [dictionaries]
      jobs = { values = ["\(jobs.kept)", "\(jobs.deleted)", "\(jobs.running)"] }
      ended = { values = ["\(jobs.kept)", "\(jobs.deleted)"] }
      deleted = { values = ["\(jobs.deleted)"] }
      files = { values = ["chatbot.webm", "chatbot.ogg", "chatbot.json", "log.ndjson", "recording.json"] }
      users = { values = ["\(user)"] }
      tokens = { values = ["\(token)"] }

      [parameters]
      "path.id" = { dictionary = "jobs", probability = 0.6 }
      "path.name" = { dictionary = "files", probability = 0.6 }
      "path.user" = { dictionary = "users", probability = 0.6 }

      [checks]
      negative_data_rejection.expected-statuses = [400, 401, 403, 404, 405, 409, 413, 422, 429]

      [[operations]]
      include-name = "POST /v1/jobs"
      checks.not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", "503"]

      [[operations]]
      include-name = "POST /v1/session"
      headers = { Origin = "\(origin)" }
      parameters = { "body.token" = { dictionary = "tokens", probability = 0.5 } }

      [[operations]]
      include-name = "POST /v1/jobs/{id}/stop"
      parameters = { "path.id" = { dictionary = "ended", probability = 0.6 } }

      [[operations]]
      include-name = "DELETE /v1/jobs/{id}/recording"
      parameters = { "path.id" = { dictionary = "deleted", probability = 0.6 } }

      """
    }

    // MARK: Roles

    /// An operation of the OpenAPI document.
    struct Operation: Sendable, CustomStringConvertible {
      let method: String
      let path: String
      /// The role that it needs; nil if it needs no token.
      let role: String?

      var description: String { "\(method) \(path)" }
      var isOfJob: Bool { path.contains("{id}") }

      /// The operations of a document; those that delete something come last.
      static func all(in document: JSON) throws -> [Operation] {
        guard case .object(let paths) = document["paths"] else { return [] }
        var operations: [Operation] = []
        for (path, item) in paths {
          guard case .object(let methods) = item else { continue }
          for (method, operation) in methods where method != "parameters" {
            let text = operation["description"].string ?? ""
            let role = try #/Role: ([a-z]+)\./#.firstMatch(in: text).map { String($0.1) }
            #expect(operation["security"].list.isEmpty == (role == nil), "\(method) \(path)")
            operations.append(Operation(method: method.uppercased(), path: path, role: role))
          }
        }
        return operations.sorted { one, other in
          (one.method == "DELETE" ? 1 : 0, one.path) < (other.method == "DELETE" ? 1 : 0, other.path)
        }
      }
    }

    @Test("each operation answers by the role of the token as documented, and hides the jobs of other projects")
    func roles() async throws {
      try await Scenario.run("91 roles", limit: .seconds(90)) { scenario in
        let server = try await scenario.server()
        _ = try await scenario.bot(in: "100", of: server, Self.pattern, name: "user")
        let service = try await RunningService.start(scenario, servers: ["main": server])
        let job = try await recorded(service)
        let roles = ["viewer", "operator", "admin"]
        var tokens: [String: String] = [:]
        for role in roles { tokens[role] = try await service.makeToken("\(role)-1", role: role) }
        let foreign = try await service.makeToken("other", role: "admin", project: "other")
        let operations = try Operation.all(in: try await document(service).json)
        #expect(operations.count > 20)
        let nodes = try await service.send(.GET, "/v1/nodes").json["nodes"].list
        let node = try #require(nodes.first?["name"].string)
        for operation in operations {
          // The job has no webhooks: the id of a delivery is one that there could be.
          let path = operation.path.replacing("/deliveries/{id}", with: "/deliveries/d1n0")
            .replacing("/nodes/{name}", with: "/nodes/\(node)").replacing("{id}", with: job)
            .replacing("{name}", with: "recording.json").replacing("{user}", with: "somebody")
          let method = HTTPMethod(rawValue: operation.method)
          let body =
            operation.description == "POST /v1/jobs"
            ? #"{"kind": "record", "room": "none", "end": {"duration": "1s"}}"# : nil
          func status(_ token: String?) async throws -> HTTPResponse {
            try await service.request(method, path, body, token: token)
          }
          let without = try await status(nil)
          #expect((without.status == .unauthorized) == (operation.role != nil), "\(operation) without a token")
          #expect(without.status != .unauthorized || without.headers.contains(name: "WWW-Authenticate"))
          #expect(without.status.code < 500, "\(operation) without a token")
          guard let needed = operation.role, let least = roles.firstIndex(of: needed) else { continue }
          // Before the recording is deleted.
          let hidden = try await status(foreign)
          if operation.isOfJob {
            #expect(hidden.status == .notFound, "\(operation) with a token of another project")
          } else {
            #expect(hidden.status.code < 300 && !hidden.text.contains(job), "\(operation)")
          }
          for (index, role) in roles.enumerated() {
            let answer = try await status(tokens[role])
            let text = "\(operation) as \(role): \(answer.status.code)"
            #expect((answer.status == .forbidden) == (index < least), "\(text)")
            #expect(answer.status.code < 500 && answer.status != .unauthorized, "\(text)")
            if index >= least, !path.contains("/deliveries/") { #expect(answer.status != .notFound, "\(text)") }
          }
        }
        let mine = try await service.send(.GET, "/v1/jobs?limit=200").json["jobs"].list
        for job in mine { try await service.wait(job["id"].string ?? "", for: "finished", within: .seconds(30)) }
        #expect(try await service.end(SIGTERM) == .exit(0))
        await service.forgetProcesses()
      }
    }

    // MARK: TLS

    @Test("the API has TLS of today's versions only, and the command line trusts the certificate that it is given")
    func tls() async throws {
      try await Scenario.run("92 TLS", limit: .seconds(60)) { scenario in
        let certificate = scenario.folder.appendingPathComponent("certificate.pem")
        let key = scenario.folder.appendingPathComponent("key.pem")
        let made = try ExternalTool.run(
          "openssl",
          [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj",
            "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key.path, "-out",
            certificate.path,
          ])
        try #require(made.status == 0, "\(made.errors)")
        let server = try await scenario.server()
        let service = try await RunningService.start(
          scenario, servers: ["main": server], settings: "tls: {certificate: \(certificate.path), key: \(key.path)}",
          surroundings: .init(certificate: certificate))
        let job = try await service.submit(
          #"{"kind": "record", "room": "tls", "startAt": "2099-01-01T00:00:00Z"}"#)

        let trusting = try await service.command(["jobs", "list", "--ca-certificate", certificate.path])
        #expect(trusting.status == 0 && trusting.output.contains(job), "\(trusting.errors)")
        let careful = try await service.command(["jobs", "list"])
        #expect(careful.status == 69, "a certificate of nobody is not trusted")
        #expect(!careful.output.contains(job))

        let plain = try? await HTTPClient().send(
          HTTPRequest(.GET, try HTTPURL(service.address.replacing("https", with: "http") + "/healthz")))
        #expect(plain == nil, "there is no plain HTTP")

        let address = service.address.replacing("https://", with: "")
        for (version, isAccepted) in [("-tls1_1", false), ("-tls1_2", true), ("-tls1_3", true)] {
          let handshake = try ExternalTool.run(
            "openssl",
            ["s_client", "-connect", address, version, "-cipher", "ALL:@SECLEVEL=0", "-CAfile", certificate.path])
          #expect(handshake.output.contains("Cipher is (NONE)") != isAccepted, "\(version): \(handshake.output)")
          #expect(!isAccepted || handshake.output.contains("Verify return code: 0 (ok)"), "\(version)")
        }

        let login = try await service.request(
          .POST, "/v1/session", #"{"token": "\#(try service.adminToken)"}"#, token: nil,
          headers: ["Origin": service.address])
        #expect(login.status == .ok)
        #expect(login.headers.first(name: "Set-Cookie")?.contains("; Secure") == true)
        let downgraded = try await service.request(
          .POST, "/v1/session", #"{"token": "\#(try service.adminToken)"}"#, token: nil,
          headers: ["Origin": service.address.replacing("https", with: "http")])
        #expect(downgraded.status == .forbidden, "a page without TLS is another origin")

        try await service.stop(job)
        #expect(try await service.end(SIGTERM) == .exit(0))
        let exposed = try ExternalTool.run(
          BuiltProgram.folder.appendingPathComponent("chatbot-service").path,
          ["run", "--listen", "0.0.0.0:0", "--data", scenario.folder.appendingPathComponent("exposed").path])
        #expect(exposed.status == 64, "other machines are not reached without TLS")
        #expect(exposed.errors.contains("--plain-http"), "\(exposed.errors)")
      }
    }
  }
}
