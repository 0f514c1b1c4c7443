import ICE
import Media
import NIOCore
import TestSupport
import Testing

@Suite("mDNS responder")
struct MDNSResponderTests: ResolvesNames {
  let start = MonotonicInstant.now
  private let names = HostNames(generator: SeededGenerator(seed: 5))
  private let v4 = address("10.9.0.7").ip
  private let v6 = address("2001:db8::7").ip

  /// Returns what a resolver finds out from the responses of a responder.
  private func found(
    _ name: MDNSName, by responder: inout MDNSResponder, isUnicastWanted: Bool = false
  ) -> [MDNSResolver.Action] {
    var resolver = MDNSResolver()
    resolver.resolve(name.description, now: start)
    _ = resolver.poll(now: start)
    for type in MDNSMessage.RecordType.allCases {
      responder.received(
        MDNSMessage.query(for: name, type: type, wantsUnicastResponse: isUnicastWanted), now: start)
    }
    for response in responder.poll(now: start) { resolver.received(response, from: browser, now: start) }
    return results(of: &resolver, until: at(5_000))
  }

  @Test("a resolver finds the address of a name, whichever response is wanted", arguments: [true, false])
  func resolver(isUnicastWanted: Bool) throws {
    var responder = MDNSResponder(names: names)
    for ip in [v4, v6] {
      let name = try #require(names.name(of: ip))
      #expect(
        found(name, by: &responder, isUnicastWanted: isUnicastWanted) == [.resolved(name.description, [ip])])
    }
  }

  @Test("the responses have the layout of Chromium's", arguments: [true, false])
  func layout(isAddressWanted: Bool) throws {
    let name = try #require(MDNSName(MDNSResponses.chromiumName))
    let response = MDNSMessage.response(
      name: name, address: address("10.9.0.1").ip, asked: isAddressWanted ? .a : .aaaa)
    if isAddressWanted {
      // Chromium's additional record points to its own name instead of the first one.
      var expected = MDNSResponses.chromiumAddress
      expected.setInteger(0xC00C as UInt16, at: expected.writerIndex - 5)
      #expect(response == expected)
    } else {
      #expect(response == MDNSResponses.chromiumNegative)
    }
  }

  @Test("a name with an IPv6 address has a negative answer for A with the bit of AAAA")
  func negativeV6() throws {
    let name = try #require(names.name(of: v6))
    let response = MDNSMessage.response(name: name, address: v6, asked: .a)
    let bitMap = bytes("c00c 00 04 00000008")
    let position = try #require(
      response.readableBytesView.indices.first { response.getSlice(at: $0, length: 8) == bitMap })
    #expect(response.getInteger(at: position - 2, as: UInt16.self) == 8)
    #expect(try MDNSMessage(parsingResponse: response).addressRecords.map(\.address) == [v6])
  }

  @Test("a name is answered once a second for each type, and what is asked in between at the end of the second")
  func rate() throws {
    var responder = MDNSResponder(names: names)
    let query = MDNSMessage.query(for: try #require(names.name(of: v4)), type: .a)
    var times: [Int] = []
    for time in stride(from: 0, to: 3_000, by: 10) {
      responder.received(query, now: at(time))
      times += responder.poll(now: at(time)).map { _ in time }
    }
    #expect(times == [0, 1_000, 2_000])
    #expect(responder.deadline == at(3_000))
    #expect(responder.poll(now: at(3_000)).count == 1)
    #expect(responder.deadline == nil)
  }

  @Test("other names, responses, damaged and unusual queries are not answered")
  func others() throws {
    var responder = MDNSResponder(names: names)
    let name = try #require(names.name(of: v4))
    let stranger = try #require(MDNSName("76edc3c7-46bf-4f06-a614-2c26338ff10a.local"))
    let query = MDNSMessage.query(for: name, type: .a)
    var wrongClass = query
    wrongClass.setInteger(3 as UInt16, at: query.writerIndex - 2)
    var service = query
    service.setInteger(33 as UInt16, at: query.writerIndex - 4)
    var flags = query
    flags.setInteger(0x8400 as UInt16, at: 2)
    for datagram in [
      MDNSMessage.query(for: stranger, type: .a), wrongClass, service, flags, ByteBuffer(),
      MDNSMessage.response(name: name, address: v4),
    ] {
      responder.received(datagram, now: start)
      #expect(responder.deadline == nil)
    }
    for length in 0..<query.readableBytes {
      responder.received(query.getSlice(at: 0, length: length) ?? ByteBuffer(), now: start)
      #expect(responder.deadline == nil)
    }
    responder.received(query, now: start)
    #expect(responder.deadline == start)
  }

  @Test("a query for any record is answered, and one with the answer in it is not", arguments: [59, 60] as [UInt32])
  func knownAnswer(timeToLive: UInt32) throws {
    var responder = MDNSResponder(names: names)
    let name = try #require(names.name(of: v4))
    var query = MDNSMessage.query(for: name, type: .a)
    query.setInteger(255 as UInt16, at: query.writerIndex - 4)
    var other = MDNSResponder(names: names)
    other.received(query, now: start)
    #expect(other.deadline == start)
    query.setInteger(1 as UInt16, at: 6)
    var record = MDNSMessage.response(name: name, address: v4, timeToLive: timeToLive)
    record.moveReaderIndex(forwardBy: 12)
    query.writeBuffer(&record)
    responder.received(query, now: start)
    #expect((responder.deadline == nil) == (timeToLive == 60))
  }

  @Test("what was answered is withdrawn with a time to live of 0")
  func withdrawal() throws {
    var responder = MDNSResponder(names: names)
    let name = try #require(names.name(of: v4))
    _ = names.name(of: v6)
    _ = found(name, by: &responder)
    let messages = responder.withdraw()
    #expect(
      try messages.map { try MDNSMessage(parsingResponse: $0).addressRecords } == [
        [.init(name: name.description, address: v4, timeToLive: 0)]
      ])
    #expect(responder.withdraw() == [])
  }

  @Test("random bytes and random changes of a query never crash, and a response has at most 200 bytes")
  func fuzz() throws {
    var generator = SeededGenerator(seed: 11)
    var responder = MDNSResponder(names: names)
    let query = MDNSMessage.query(for: try #require(names.name(of: v6)), type: .a)
    for round in 0..<20_000 {
      var datagram = query
      for _ in 0..<Int.random(in: 0...4, using: &generator) {
        datagram.setInteger(
          UInt8.random(in: 0 ... .max, using: &generator),
          at: Int.random(in: 0..<query.readableBytes, using: &generator))
      }
      responder.received(datagram, now: at(round * 100))
      for response in responder.poll(now: at(round * 100)) { #expect(response.readableBytes <= 200) }
    }
  }
}

@Suite("names of our addresses")
struct HostNamesTests {
  private let names = HostNames(generator: SeededGenerator(seed: 3))

  @Test("each address has a name of its own with a UUID of version 4, which stays")
  func distinctNames() throws {
    let first = try #require(names.name(of: address("10.0.0.1").ip))
    let second = try #require(names.name(of: address("10.0.0.2").ip))
    #expect(first != second)
    #expect(names.name(of: address("10.0.0.1").ip) == first)
    #expect(names.address(of: second) == address("10.0.0.2").ip)
    for name in [first, second] {
      let text = Array(name.description)
      #expect(text.count == 42)
      #expect(name.beginsWithUUID)
      #expect(text[14] == "4")
      #expect("89ab".contains(text[19]))
    }
    #expect(HostNames().name(of: address("10.0.0.1").ip) != HostNames().name(of: address("10.0.0.1").ip))
  }

  @Test("at most 256 addresses have names")
  func limit() {
    for number in 0..<256 { #expect(names.name(of: .v4(0x0A00_0000 + UInt32(number))) != nil) }
    #expect(names.name(of: .v4(0x0B00_0000)) == nil)
    #expect(names.name(of: .v4(0x0A00_0000)) != nil)
  }

  @Test("no candidate of an agent reveals an address of a socket")
  func candidates() throws {
    var agent = agent(.controlling, Known.leftCredentials, hosts: [Known.left, Known.leftV6, address("127.0.0.1")])
    agent.addServerReflexive(mapped: address("203.0.113.5"), base: Known.left)
    agent.addServerReflexive(mapped: address("2001:db8:9::5"), base: Known.leftV6)
    agent.addRelayed(
      RelayedAddress(
        address: address("203.0.113.9"), mapped: address("198.51.100.4"), server: address("203.0.113.1", 3_478),
        preference: 1), now: .now)
    let texts = agent.localCandidates.compactMap(names.hide).map(\.attributeValue)
    #expect(texts.count == 5)
    for text in texts {
      for hidden in ["192.0.2.1", "2001:db8::1", "127.0.0.1", "198.51.100.4"] { #expect(!text.contains(hidden)) }
    }
    #expect(texts == agent.localCandidates.compactMap(names.hide).map(\.attributeValue))
    let foundations = agent.localCandidates.filter { $0.address != address("127.0.0.1") }.map(\.foundation)
    let signalled = agent.localCandidates.compactMap(names.hide).map(\.foundation)
    #expect(Set(foundations).isDisjoint(with: signalled))
    #expect(Set(signalled).count == Set(foundations).count)
    #expect(texts.count { $0.contains(".local 5000 typ host") } == 2)
    #expect(texts.contains { $0.contains("203.0.113.5 5000 typ srflx raddr 0.0.0.0 rport 9") })
    #expect(texts.contains { $0.contains("2001:db8:9::5 5000 typ srflx raddr :: rport 9") })
  }
}
