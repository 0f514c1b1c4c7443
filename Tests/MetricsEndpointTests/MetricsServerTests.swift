import Foundation
import Glibc
import MetricsEndpoint
import OptionValues
import Testing

@Suite struct MetricsServerTests {
  private func server(_ text: String = "a 1\n", requestTime: Duration = .seconds(10)) async throws -> MetricsServer {
    try await .start(ListenAddress(host: "127.0.0.1", port: 0), requestTime: requestTime) { text }
  }

  @Test func `the metrics are served in the text format 0_0_4, and nothing else is`() async throws {
    let server = try await server("# TYPE a gauge\na 1\n")
    let answer = try await Connection(server).exchange("GET /metrics?x=1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
    #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
    #expect(answer.contains("\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"))
    #expect(answer.hasSuffix("\r\n\r\n# TYPE a gauge\na 1\n"))
    let head = try await Connection(server).exchange("HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
    #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n") && head.hasSuffix("\r\n\r\n"))
    #expect(head.contains("\r\nContent-Length: 19\r\n"))
    let other = try await Connection(server).exchange("GET /metrics/x HTTP/1.1\r\nHost: localhost\r\n\r\n")
    #expect(other.hasPrefix("HTTP/1.1 404 "))
    let post = try await Connection(server).exchange(
      "POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc")
    #expect(post.hasPrefix("HTTP/1.1 405 ") && post.contains("\r\nAllow: GET, HEAD\r\n"))
    await server.stop()
  }

  @Test func `a client that sends too much or too slowly is disconnected`() async throws {
    let server = try await server(requestTime: .milliseconds(200))
    let large = try await Connection(server).exchange(
      "GET /metrics HTTP/1.1\r\nX: \(String(repeating: "a", count: 20_000))\r\n\r\n")
    #expect(!large.hasPrefix("HTTP/1.1 200"))
    let start = ContinuousClock.now
    let slow = try await Connection(server).exchange("GET /metrics HTTP/1.1\r\n")
    #expect(slow.isEmpty && ContinuousClock.now - start < .seconds(5))
    let text = try await Connection(server).exchange("\u{0}\u{1}\r\n\r\n")
    #expect(!text.hasPrefix("HTTP/1.1 200"))
    await server.stop()
  }

  @Test func `connections beyond the limit are closed, and there is room again when others end`() async throws {
    let server = try await server()
    var open: [Connection] = []
    for _ in 0..<MetricsServer.maximumConnections { open.append(try Connection(server)) }
    #expect(try await Connection(server).exchange("").isEmpty)
    open = []
    var answer = ""
    for _ in 0..<100 where answer.isEmpty {
      try await Task.sleep(for: .milliseconds(20))
      answer = try await Connection(server).exchange("GET /metrics HTTP/1.1\r\n\r\n")
    }
    #expect(answer.hasPrefix("HTTP/1.1 200 "))
    await server.stop()
  }

  @Test func `a port that is taken and an address of no machine are named`() async throws {
    let first = try await server()
    let taken = await #expect(throws: MetricsServer.StartError.self) {
      try await MetricsServer.start(first.address) { "" }
    }
    #expect(
      taken?.description == "Metrics cannot be served at \(first.address): the port is taken by another program.")
    await first.stop()
    let absent = await #expect(throws: MetricsServer.StartError.self) {
      try await MetricsServer.start(ListenAddress(host: "host.invalid", port: 0)) { "" }
    }
    #expect(absent?.description == "Metrics cannot be served at host.invalid:0: there is no such address.")
  }
}

/// A TCP connection to a server of this machine.
final class Connection: Sendable {
  private let descriptor: Int32

  init(_ server: MetricsServer) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(server.address.port.bigEndian)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw CocoaError(.fileReadUnknown) }
  }

  deinit { close(descriptor) }

  /// Sends a text and reads all until the other side closes the connection.
  func exchange(_ text: String) async throws -> String {
    let descriptor = descriptor
    return await Task.detached {
      let bytes = Array(text.utf8)
      _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
      var received: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while true {
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { return String(decoding: received, as: UTF8.self) }
        received += buffer[..<count]
      }
    }.value
  }
}
