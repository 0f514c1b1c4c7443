import Foundation
import Glibc
import JSON
import Media
import Service
import Synchronization
import Testing

@Suite struct FollowingTests {
  @Test func `a client whose connection is lost goes on behind the last complete event`() async throws {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    let server = try ScriptedServer([
      "\(head): \n\nid: e1\nevent: a\ndata: {\"n\":1}\n\nid: e2\nevent: a\ndata: {\"n\":2",
      "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n",
      "",
      "\(head)id: e2\nevent: a\ndata: {\"n\":2}\n\nevent: live\ndata: {\"n\":3}\n\n",
      "\(head)id: e4\ndata: {\"n\":4}\n\n",
    ])
    let seen = Mutex<[Int64]>([])
    let lost = Mutex(0)
    var reconnecting = APIClient.Reconnecting()
    reconnecting.waits = [.milliseconds(10)]
    reconnecting.lost = { _ in lost.withLock { $0 += 1 } }
    let client = try APIClient(url: "http://127.0.0.1:\(server.port)", token: "t")
    try await client.follow("/v1/events", after: "e0", reconnecting) { event in
      seen.withLock { $0.append(event["n"]?.integer ?? 0) }
      return event["n"]?.integer != 4
    }
    #expect(seen.withLock { $0 } == [1, 2, 3, 4])
    #expect(server.lastEventIDs == ["e0", "e1", "e1", "e1", "e2"])
    // Once for each time that there were events.
    #expect(lost.withLock { $0 } == 2)
  }

  @Test func `a first connection that fails, and a refusal, end the client`() async throws {
    let server = try ScriptedServer([
      "HTTP/1.1 200 OK\r\n\r\nid: e1\ndata: {}\n\n", "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n",
    ])
    var reconnecting = APIClient.Reconnecting()
    reconnecting.waits = [.milliseconds(10)]
    let (port, settings) = (server.port, reconnecting)
    let client = try APIClient(url: "http://127.0.0.1:\(port)", token: "t")
    let refused = await #expect(throws: APIClient.Failure.self) {
      try await client.follow("/v1/events", after: nil, settings) { _ in true }
    }
    if case .refused(401, _)? = refused {} else { Issue.record("\(refused as Any)") }
    server.stop()
    let absent = await #expect(throws: APIClient.Failure.self) {
      try await client.follow("/v1/events", after: nil, settings) { _ in true }
    }
    if case .unreachable? = absent {} else { Issue.record("\(absent as Any)") }
  }

  @Test func `a connection on which nothing comes is given up`() async throws {
    let head = "HTTP/1.1 200 OK\r\n\r\n"
    let server = try ScriptedServer(["\(head): \n\n", "\(head)data: {}\n\n"], closes: false)
    var reconnecting = APIClient.Reconnecting()
    (reconnecting.waits, reconnecting.silence) = ([.milliseconds(10)], .seconds(2))
    let client = try APIClient(url: "http://127.0.0.1:\(server.port)", token: "t")
    try await client.follow("/v1/events", after: nil, reconnecting) { _ in false }
    #expect(server.lastEventIDs == ["", ""])
  }

  @Test(arguments: ["/v1/events", "/v1/live"])
  func `a stream ends when its token is removed, and not when another one is`(_ path: String) async throws {
    let service = try await ServiceFixture()
    _ = try await service.submit()
    let file = "\(service.folder)/tokens"
    let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
    func keep(_ isKept: (Substring) -> Bool) throws {
      let text = lines.filter(isKept).joined(separator: "\n") + "\n"
      try FileManager.default.removeItem(atPath: file)
      try PrivateFile.create(file, text)
    }
    var reconnecting = APIClient.Reconnecting()
    reconnecting.waits = [.milliseconds(100)]
    let lost = Mutex(0)
    reconnecting.lost = { _ in lost.withLock { $0 += 1 } }
    let (client, settings) = (try service.client("viewer"), reconnecting)
    let following = Task { try await client.follow(path, after: nil, settings) { _ in true } }
    try await Task.sleep(for: .milliseconds(500))
    try keep { !$0.hasPrefix("other ") }
    try await Task.sleep(for: .milliseconds(1_500))
    #expect(lost.withLock { $0 } == 0)
    try keep { !$0.hasPrefix("viewer ") }
    let start = ContinuousClock.now
    let refused = await #expect(throws: APIClient.Failure.self) { try await following.value }
    if case .refused(401, _)? = refused {} else { Issue.record("\(refused as Any)") }
    #expect(ContinuousClock.now - start < .seconds(5))
  }

  @Test func `requests above the role of a token count against its rate`() throws {
    let folder = NSTemporaryDirectory() + "access-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let text = AccessToken.randomText()
    let token = AccessToken(name: "a", role: .viewer, project: "p", digest: SHA256Digest(of: text.utf8))
    try PrivateFile.create("\(folder)/tokens", token.line + "\n")
    let access = APIAccess(tokens: TokenFile("\(folder)/tokens"), requestsPerSecond: 2)
    let now = MonotonicInstant.now
    var kinds: [APIProblem.Kind] = []
    for _ in 0..<3 {
      do { _ = try access.authorize(.header(text), role: .operator, address: "a", now: now) } catch {
        kinds.append(error.kind)
      }
    }
    #expect(kinds == [.forbidden, .forbidden, .tooManyRequests])
  }
}

/// A server that gives one answer after another, and notes the `Last-Event-ID` of each request.
final class ScriptedServer: Sendable {
  let port: Int
  private let listener: Int32
  private let requests = Mutex<[String]>([])

  var lastEventIDs: [String] { requests.withLock { $0 } }

  /// - Parameter closes: whether a connection ends with its answer.
  init(_ answers: [String], closes: Bool = true) throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, 8) == 0 && getsockname(listener, $0, &length) == 0
      }
    }
    guard result else { throw CocoaError(.fileReadUnknown) }
    self.listener = listener
    port = Int(UInt16(bigEndian: address.sin_port))
    Thread.detachNewThread { [requests = RequestList(self)] in
      for answer in answers {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { return }
        var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 4_096))
        while !String(decoding: bytes, as: UTF8.self).contains("\r\n\r\n") {
          let count = recv(connection, &buffer, buffer.count, 0)
          guard count > 0 else { break }
          bytes += buffer[..<count]
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\r\n")
        let field = lines.first { $0.hasPrefix("Last-Event-ID: ") }?.dropFirst(15)
        requests.add(String(field ?? ""))
        _ = send(connection, answer, answer.utf8.count, Int32(MSG_NOSIGNAL))
        if closes { close(connection) }
      }
    }
  }

  func stop() {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }

  /// Keeps the thread from keeping the server.
  private struct RequestList: @unchecked Sendable {
    weak var server: ScriptedServer?
    init(_ server: ScriptedServer) { self.server = server }
    func add(_ id: String) { server?.requests.withLock { $0.append(id) } }
  }
}
