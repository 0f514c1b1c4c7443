import Foundation
import JSON
import JobProtocol
import Media
import SQLStore
import Testing

@testable import Service

@Suite struct RequestValueTests {
  @Test(arguments: [
    ("1970-01-01T00:00:00Z", 0), ("2026-12-01T09:00:00Z", 1_796_115_600_000),
    ("2026-12-01T09:00:00.5+01:00", 1_796_112_000_500), ("2024-02-29T23:59:59.999Z", 1_709_251_199_999),
    ("2000-03-01t00:00:00z", 951_868_800_000),
  ])
  func `times are read as RFC 3339`(_ text: String, milliseconds: Int64) {
    #expect(APITime.parse(text) == milliseconds)
    #expect(APITime.parse(APITime.text(milliseconds)) == milliseconds)
  }

  @Test(arguments: [
    "", "2026-12-01", "2026-13-01T00:00:00Z", "2025-02-29T00:00:00Z", "2026-12-01T24:00:00Z", "2026-12-01T00:00:00",
    "2026-12-01T00:00:00.Z", "2026-12-01T00:00:00+1:00", "2026-12-01 00:00:00Z", "2026-12-01T00:00:00Zx",
    "２０２６-12-01T00:00:00Z",
  ])
  func `other texts are no times`(_ text: String) { #expect(APITime.parse(text) == nil) }

  @Test func `every day of 400 years is written as Foundation writes it`() {
    for day in stride(from: Int64(0), to: 146_097, by: 1) {
      let text = APITime.text(day * 86_400_000)
      guard APITime.parse(text) == day * 86_400_000 else {
        Issue.record("\(text)")
        return
      }
    }
    #expect(APITime.text(4_102_444_799_999) == "2099-12-31T23:59:59.999Z")
  }

  @Test(arguments: [
    "exec:python3 a.py", "ftp://a.example", "ws://localhost", "ws://a.localhost:3000/", "wss://printer.local",
    "wss://intranet", "wss://user:pw@calls.example", "wss://calls.example\\@10.0.0.1", "ws:///path", "wss://",
    "firestore://project/rooms/a",
  ])
  func `a caller's server runs no program and is not in a private network`(_ url: String) {
    #expect(ServerURL.problem(url) != nil)
  }

  @Test(arguments: [
    "ws://127.0.0.1", "ws://127.1", "ws://0x7f.0.0.1", "ws://2130706433.", "ws://10.1.2.3:80", "ws://[::1]:3000",
    "ws://[::ffff:192.168.1.1]", "ws://169.254.169.254/latest", "ws://[fd00::1]", "ws://100.64.0.1",
  ])
  func `addresses of private networks are refused in every notation`(_ url: String) {
    #expect(ServerURL.problemWhenResolved(url) != nil)
  }

  @Test func `public addresses are allowed`() {
    #expect(ServerURL.problemWhenResolved("wss://93.184.216.34:443/a") == nil)
    #expect(ServerURL.problemWhenResolved("janus+wss://[2606:2800:220:1::1]") == nil)
    #expect(ServerURL.problem("WSS://calls.example") == nil)
  }

  @Test func `a job has the defaults of the configuration, and becomes a specification`() throws {
    var configuration = ServiceConfiguration()
    configuration.record = ["segment": "10m", "verify": .bool(false)]
    configuration.servers["main"]?.iceServers = ["stun:a"]
    configuration.servers["main"]?.ca = "ca.pem"
    let body: JSONValue = .object(["kind": "record", "room": "1", "record": .object(["verify": .bool(true)])])
    let request = try JobRequest.parse(body, configuration: configuration).request
    #expect(request.options == ["segment": "10m", "verify": .bool(true)])
    #expect(try JobRequest(stored: request.stored) == request)
    let specification = try request.specification(
      job: "a", attempt: 2, attemptID: "b", paused: .none, configuration: configuration, udpPort: 4_000)
    #expect(specification.validate().isEmpty)
    #expect(specification.server.url == "ws://localhost:3000")
    #expect(specification.server.options["caCertificate"]?.string?.ascii?.hasPrefix("/") == true)
    configuration.servers = [:]
    #expect(throws: JobProblem.self) {
      try request.specification(job: "a", attempt: 2, attemptID: "b", paused: .none, configuration: configuration)
    }
  }

  @Test func `paths are decoded once, and nothing else is a route`() throws {
    let id = try #require(JobID("abc"))
    #expect(APIRoute(path: "/v1/jobs/abc/users/a%2Fb/snapshot.png") == .snapshot(id, user: "a/b"))
    #expect(APIRoute(path: "/v1/jobs/abc/files/%252e") == .file(id, name: "%2e"))
    #expect(APIRoute(path: "/", page: ["index.html"]) == .page("index.html"))
    for path in [
      "", "/v1", "/v1/", "/v1/jobs/", "/v1/jobs/ABC", "/v1/jobs/abc/", "/v1/jobs/abc/files/", "/v1/jobs/abc/files/a/b",
      "/v1/jobs/abc/users//snapshot.png", "/v1/jobs/abc/stop/x", "/v1/jobs/a%00c", "/v1/jobs/abc/files/%zz",
      "/index.htm",
      "//healthz", "/v1/../healthz", "/secret.key",
    ] {
      #expect(APIRoute(path: path, page: ["index.html"]) == nil, "\(path)")
    }
  }

  @Test func `the document of the API names each problem, event, state and reason`() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let document = try String(
      contentsOf: root.appending(path: "Sources/Service/OpenAPI/openapi.json"), encoding: .utf8)
    for kind in APIProblem.Kind.allCases { #expect(document.contains("\"\(kind.uri)\""), "\(kind)") }
    for type in JobEventType.allCases { #expect(document.contains(type.rawValue), "\(type)") }
    for state in JobState.allCases { #expect(document.contains("\"\(state.rawValue)\""), "\(state)") }
    for reason in JobEndReason.allCases { #expect(document.contains("\"\(reason.rawValue)\""), "\(reason)") }
    for kind in JobKind.allCases {
      for option in JobOptions.of(kind) { #expect(document.contains("\"\(option.name)\""), "\(option.name)") }
    }
    let page = try String(contentsOf: root.appending(path: "docs/api.md"), encoding: .utf8)
    for kind in APIProblem.Kind.allCases { #expect(page.contains("`\(kind.rawValue)`"), "\(kind)") }
  }
}
