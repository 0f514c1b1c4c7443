import ICE
import Media
import NIOCore
import TestSupport
import Testing

@Suite("Multicast DNS resolver")
struct MDNSResolverTests: ResolvesNames {
  let start = MonotonicInstant.now

  @Test("a name is asked for at once, in one message for each type, sent to both groups")
  func firstTransmission() throws {
    var resolver = MDNSResolver()
    resolver.resolve("AB.local", now: start)
    #expect(resolver.deadline == start)
    let name = try #require(MDNSName("ab.local"))
    let a = MDNSMessage.query(for: name, type: .a)
    let aaaa = MDNSMessage.query(for: name, type: .aaaa)
    let (v4, v6) = (address("224.0.0.251", 5_353), address("ff02::fb", 5_353))
    let actions = resolver.poll(now: start)
    #expect(actions == [.send(a, to: v4), .send(a, to: v6), .send(aaaa, to: v4), .send(aaaa, to: v6)])
  }

  @Test("from another port than 5353 the queries have random ids and ask for unicast responses")
  func oneShot() throws {
    var resolver = MDNSResolver(port: 40_000, generator: SeededGenerator(seed: 5))
    resolver.resolve("ab.local", now: start)
    var ids: Set<UInt16> = []
    for case .send(let datagram, _) in resolver.poll(now: start) {
      ids.insert(try #require(datagram.getInteger(at: 0)))
      #expect(datagram.getInteger(at: datagram.writerIndex - 2, as: UInt16.self) == 0x8001)
    }
    #expect(ids.count == 2)
    #expect(!ids.contains(0))
  }

  @Test("a name without an answer is asked for at 0, 250, 750 and 1750 ms and fails after 3 s")
  func timers() {
    var resolver = MDNSResolver()
    resolver.resolve("ab.local", now: start)
    var sent: [Duration] = []
    var failed: Duration?
    while let deadline = resolver.deadline {
      for action in resolver.poll(now: deadline) {
        switch action {
        case .send: if sent.last != deadline - start { sent.append(deadline - start) }
        case .failed(let name):
          #expect(name == "ab.local")
          failed = deadline - start
        case .resolved: Issue.record("There was no response.")
        }
      }
    }
    #expect(sent == [0, 250, 750, 1_750].map { .milliseconds($0) })
    #expect(failed == .seconds(3))
    #expect(resolver.queryCount == 0)
  }

  @Test("a process that was stopped before the first transmission still has 3 s for the answer")
  func latePoll() {
    var resolver = MDNSResolver()
    resolver.resolve("ab.local", now: start)
    let actions = resolver.poll(now: at(10_000))
    #expect(actions.count == 4)
    #expect(results(of: &resolver, until: at(12_999)).isEmpty)
    #expect(results(of: &resolver, until: at(13_000)) == [.failed("ab.local")])
  }

  @Test("a process that was stopped between transmissions sends once and fails after 3 s")
  func lateRetransmission() {
    var resolver = asking()
    let actions = resolver.poll(now: at(2_900))
    #expect(actions.count == 4)
    #expect(resolver.deadline == at(3_000))
    #expect(results(of: &resolver, until: at(3_000)) == [.failed("ab.local")])
  }

  @Test("the answer of Chromium resolves its name 20 ms later, in lowercase letters")
  func resolves() {
    var resolver = MDNSResolver()
    resolver.resolve(MDNSResponses.chromiumName.uppercased(), now: start)
    _ = resolver.poll(now: start)
    resolver.received(MDNSResponses.chromiumAddress, from: browser, now: at(8))
    #expect(resolver.deadline == at(28))
    #expect(resolver.poll(now: at(27)).isEmpty)
    #expect(resolver.poll(now: at(28)) == [.resolved(MDNSResponses.chromiumName, [browser.ip])])
    #expect(resolver.deadline == nil)
  }

  @Test("addresses that arrive within 20 ms are collected once each, four at most")
  func collects() {
    var resolver = asking()
    resolver.received(MDNSResponses.response("192.0.2.1"), from: browser, now: at(300))
    resolver.received(MDNSResponses.response("192.0.2.1", "2001:db8::1"), from: browser, now: at(310))
    #expect(resolver.deadline == at(320))
    resolver.received(MDNSResponses.response("192.0.2.2", "192.0.2.3", "192.0.2.4"), from: browser, now: at(319))
    let expected = [
      address("192.0.2.1").ip, address("2001:db8::1").ip, address("192.0.2.2").ip, address("192.0.2.3").ip,
    ]
    #expect(results(of: &resolver, until: at(320)) == [.resolved("ab.local", expected)])
  }

  @Test("calls for a name in progress cause no second query and one result")
  func sameName() {
    var resolver = asking()
    resolver.resolve("Ab.LOCAL", now: at(10))
    #expect(resolver.queryCount == 1)
    #expect(resolver.deadline == at(250))
    #expect(results(of: &resolver, until: at(5_000)) == [.failed("ab.local")])
  }

  @Test("names unlike those of browsers fail at once and nothing is sent")
  func rejectedNames() {
    var resolver = MDNSResolver()
    for name in ["printer._ipp._tcp.local", "example.org", "A.local.", ""] {
      resolver.resolve(name, now: start)
      #expect(resolver.deadline == start)
      #expect(resolver.poll(now: start) == [.failed(name)])
    }
  }

  @Test("addresses that no other machine can have, and withdrawn records, are ignored")
  func uselessAddresses() {
    var resolver = asking()
    resolver.received(
      MDNSResponses.response("127.0.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "ff02::1"),
      from: browser, now: at(10))
    resolver.received(MDNSResponses.response("::ffff:192.0.2.1"), from: browser, now: at(10))
    resolver.received(MDNSResponses.response("192.0.2.1", timeToLive: 0), from: browser, now: at(10))
    #expect(resolver.deadline == at(250))
    resolver.received(MDNSResponses.response("169.254.3.4"), from: browser, now: at(20))
    #expect(results(of: &resolver, until: at(40)) == [.resolved("ab.local", [address("169.254.3.4").ip])])
  }

  @Test("answers for names that were not asked for, from other ports and from outside are ignored")
  func forgeries() {
    var resolver = asking()
    resolver.received(MDNSResponses.response("192.0.2.1", name: "abc.local"), from: browser, now: at(10))
    resolver.received(MDNSResponses.response("192.0.2.1", name: "ab.local.org"), from: browser, now: at(10))
    resolver.received(MDNSResponses.response("192.0.2.1"), from: address("10.9.0.1", 5_354), now: at(10))
    resolver.received(MDNSResponses.response("192.0.2.1"), from: address("198.51.100.9", 5_353), now: at(10))
    #expect(resolver.deadline == at(250))
    resolver.resolve("abc.local", now: at(20))
    #expect(results(of: &resolver, until: at(5_000)) == [.failed("ab.local"), .failed("abc.local")])
  }

  @Test(
    "a machine with a public address, or with a link-local one, can announce its own",
    arguments: [("198.51.100.9", "198.51.100.9"), ("fe80::9", "2001:db8::9")])
  func publicAddresses(source: String, announced: String) {
    var resolver = asking()
    resolver.received(MDNSResponses.response(announced), from: address(source, 5_353), now: at(10))
    #expect(results(of: &resolver, until: at(30)) == [.resolved("ab.local", [address(announced).ip])])
  }

  @Test("a response is accepted with any id, because multicast responses have 0")
  func anyID() {
    var resolver = asking()
    resolver.received(MDNSResponses.compressed, from: browser, now: at(10))
    #expect(results(of: &resolver, until: at(30)) == [.resolved("ab.local", [address("192.0.2.7").ip])])
  }
}
