import ICE
import Media
import NIOCore
import TestSupport
import Testing

@Suite("Gathering")
struct GatheringTests {
  private let base = address("10.0.0.5")
  private let server = address("198.51.100.200", 3_478)
  private let mapped = address("203.0.113.7", 40_001)
  private let start = MonotonicInstant.now

  private func gatherer(_ servers: [TransportAddress]) -> ServerReflexiveGatherer {
    ServerReflexiveGatherer(base: base, servers: servers, now: start, generator: SeededGenerator(seed: 4))
  }

  private func request(in actions: [ServerReflexiveGatherer.Action]) throws -> STUNMessage {
    for case .send(let datagram, _) in actions { return try STUNMessage(parsing: datagram) }
    throw MissingRequest()
  }

  private struct MissingRequest: Error {}

  private func answer(_ request: STUNMessage, _ mapped: TransportAddress) -> ByteBuffer {
    var response = STUNMessage(.success, transactionID: request.transactionID)
    response.xorMappedAddress = mapped
    return response.encoded(integrityKey: nil)
  }

  @Test("a response reports the mapped address once, and the server is queried again after 15 s")
  func mapping() throws {
    var gatherer = gatherer([server])
    #expect(gatherer.deadline == start)
    #expect(gatherer.isGathering)
    let request = try request(in: gatherer.poll(now: start))
    #expect(gatherer.owns(transactionID: request.transactionID))
    let arrival = start + .milliseconds(30)
    let isTaken = gatherer.received(answer(request, mapped), from: server, now: arrival)
    #expect(isTaken)
    #expect(gatherer.deadline == arrival)
    let actions = gatherer.poll(now: arrival)
    #expect(actions == [.mapped(mapped, server: server)])
    #expect(gatherer.deadline == arrival + .seconds(15))
    #expect(!gatherer.isGathering)
    #expect(!gatherer.owns(transactionID: request.transactionID))

    let second = try self.request(in: gatherer.poll(now: arrival + .seconds(15)))
    #expect(second.transactionID != request.transactionID)
    _ = gatherer.received(answer(second, mapped), from: server, now: arrival + .seconds(15))
    let unchanged = gatherer.poll(now: arrival + .seconds(16))
    #expect(unchanged.isEmpty)

    let third = try self.request(in: gatherer.poll(now: arrival + .seconds(31)))
    let moved = address("203.0.113.7", 40_002)
    _ = gatherer.received(answer(third, moved), from: server, now: arrival + .seconds(31))
    let changed = gatherer.poll(now: arrival + .seconds(31))
    #expect(changed == [.mapped(moved, server: server)])
  }

  @Test("a silent server gets seven requests in 31.5 s, fails after 39.5 s and is queried again 15 s later")
  func retransmission() throws {
    var gatherer = gatherer([server])
    var times: [Duration] = []
    var failure: Duration?
    while let deadline = gatherer.deadline, deadline < start + .seconds(54) {
      for action in gatherer.poll(now: deadline) {
        switch action {
        case .send: times.append(deadline - start)
        case .failed(let failed):
          #expect(failed == server)
          failure = deadline - start
        case .mapped: Issue.record("There was no response to map an address.")
        }
      }
    }
    #expect(times == [0, 500, 1_500, 3_500, 7_500, 15_500, 31_500].map { .milliseconds($0) })
    #expect(failure == .milliseconds(39_500))
    #expect(gatherer.deadline == start + .milliseconds(54_500))
  }

  @Test("responses from another address, with a wrong fingerprint or without a request are rejected")
  func forgeries() throws {
    var gatherer = gatherer([server])
    let request = try request(in: gatherer.poll(now: start))
    _ = gatherer.received(answer(request, mapped), from: address("198.51.100.201", 3_478), now: start)
    var damaged = answer(request, mapped)
    damaged.setInteger(0 as UInt32, at: damaged.writerIndex - 4)
    _ = gatherer.received(damaged, from: server, now: start)
    let other = STUNMessage(.success, transactionID: .init(high: 1, low: 1)).encoded(integrityKey: nil)
    let isTaken = gatherer.received(other, from: server, now: start)
    #expect(!isTaken)
    let actions = gatherer.poll(now: start)
    #expect(actions.isEmpty)
    #expect(gatherer.owns(transactionID: request.transactionID))
  }

  @Test("MAPPED-ADDRESS without FINGERPRINT, from an old server, is accepted")
  func oldServer() throws {
    var gatherer = gatherer([server])
    var response = STUNMessage(.success, transactionID: try request(in: gatherer.poll(now: start)).transactionID)
    response.mappedAddress = mapped
    var datagram = ByteBuffer()
    response.write(into: &datagram)
    _ = gatherer.received(datagram, from: server, now: start)
    let actions = gatherer.poll(now: start)
    #expect(actions == [.mapped(mapped, server: server)])
  }

  @Test("an error response fails the server until the next query")
  func errorAnswer() throws {
    var gatherer = gatherer([server])
    var response = STUNMessage(.errorResponse, transactionID: try request(in: gatherer.poll(now: start)).transactionID)
    response.errorCode = STUNErrorCode(500, "Server Error")
    _ = gatherer.received(response.encoded(integrityKey: nil), from: server, now: start)
    let actions = gatherer.poll(now: start)
    #expect(actions == [.failed(server: server)])
    #expect(gatherer.deadline == start + .seconds(15))
  }

  @Test("servers of another address family and unreachable ones are ignored")
  func uselessServers() {
    #expect(gatherer([address("2001:db8::9", 3_478), address("198.51.100.1", 0)]).deadline == nil)
    #expect(gatherer([]).deadline == nil)
  }
}

@Suite("ICE server URLs")
struct ICEServerURLTests {
  @Test(
    "a stun: URL contains host and port",
    arguments: [
      ("stun:stun.example.org", "stun.example.org", 3_478), ("stun:stun.example.org:19302", "stun.example.org", 19_302),
      ("STUN:192.0.2.1", "192.0.2.1", 3_478), ("stun:[2001:db8::1]:1", "2001:db8::1", 1),
      ("stun:localhost:65535", "localhost", 65_535),
      ("stun:[::1]", "::1", 3_478),
    ] as [(String, String, UInt16)])
  func reads(text: String, host: String, port: UInt16) throws {
    let url = try ICEServerURL(parsing: text)
    #expect(url.host == host)
    #expect(url.port == port)
    #expect(try ICEServerURL(parsing: url.description) == url)
  }

  @Test(
    "each error is a sentence",
    arguments: [
      (
        "stun.example.org",
        "An ICE server URL has the form stun:host or stun:host:port, but \"stun.example.org\" has no scheme."
      ),
      (
        "example.org:3478",
        "An ICE server URL has the form stun:host or stun:host:port, but \"example.org:3478\" has no scheme."
      ),
      ("stuns:example.org", "Only stun:, turn: and turns: servers are supported, but this one is stuns:."),
      (
        "stun://example.org",
        "An ICE server URL has the form stun:host, without slashes, but this one is \"stun://example.org\"."
      ),
      ("stun:example.org?transport=udp", "A stun: URL has no parameters, but this one has \"?transport=udp\"."),
      ("stun:", "\"\" is neither a host name nor an IP address (an IPv6 address needs brackets)."),
      ("stun:::1", "\"::1\" is neither a host name nor an IP address (an IPv6 address needs brackets)."),
      ("stun:[::1", "\"[::1\" is neither a host name nor an IP address (an IPv6 address needs brackets)."),
      ("stun:a b", "\"a b\" is neither a host name nor an IP address (an IPv6 address needs brackets)."),
      ("stun:host:0", "A port is a number from 1 to 65535, but this one is \"0\"."),
      ("stun:host:70000", "A port is a number from 1 to 65535, but this one is \"70000\"."),
      ("stun:host:", "A port is a number from 1 to 65535, but this one is \"\"."),
    ])
  func mistakes(text: String, sentence: String) {
    do throws(ICEServerURL.ParseError) {
      let url = try ICEServerURL(parsing: text)
      Issue.record("\(text) was parsed as \(url)")
    } catch {
      #expect(error.description == sentence)
    }
  }
}
