import ICE
import Testing

@Suite("Candidates")
struct CandidateTests {
  @Test(
    "candidates of Chromium and Firefox are parsed and written back unchanged",
    arguments: [
      "candidate:991317585 1 udp 2122260223 127.0.0.1 57747 typ host generation 0 ufrag p/CY network-id 1 network-cost 50",
      "candidate:3317471941 1 tcp 1518280447 127.0.0.1 9 typ host tcptype active generation 0 ufrag p/CY network-id 1",
      "candidate:4211254378 1 udp 2113937151 76edc3c7-46bf-4f06-a614-2c26338ff10a.local 59019 typ host generation 0 ufrag K7qq network-cost 999",
      "candidate:0 1 UDP 2122187007 10.99.0.1 45401 typ host", "candidate:1 1 UDP 2122252543 ::1 58348 typ host",
      "candidate:3 1 TCP 2105524479 ::1 9 typ host tcptype active",
      "candidate:842163049 1 udp 1677729535 203.0.113.7 40001 typ srflx raddr 0.0.0.0 rport 0 generation 0",
      "candidate:3 1 udp 41885439 198.51.100.9 50000 typ relay raddr 203.0.113.7 rport 40001",
      "candidate:7 1 udp 1845501695 2001:db8::7 40001 typ prflx raddr 2001:db8::1 rport 9",
    ])
  func roundTrip(text: String) throws {
    #expect(try ICECandidate(parsing: text).attributeValue == text)
    #expect(try ICECandidate(parsing: "a=\(text)\r\n").attributeValue == text)
  }

  @Test("every field is parsed")
  func fields() throws {
    let candidate = try ICECandidate(
      parsing: "CANDIDATE:842163049 2 UDP 1677729535 203.0.113.7 40001 TYP srflx raddr 10.0.0.5 rport 5000 ufrag p/CY")
    #expect(candidate.foundation == "842163049")
    #expect(candidate.component == 2)
    #expect(candidate.isUDP)
    #expect(candidate.priority == 1_677_729_535)
    #expect(candidate.address == address("203.0.113.7", 40_001))
    #expect(candidate.type == .serverReflexive)
    #expect(candidate.related == .init(address: "10.0.0.5", port: 5_000))
    #expect(candidate.usernameFragment == "p/CY")
  }

  @Test("a candidate with a name has no address")
  func names() throws {
    let candidate = try ICECandidate(parsing: "candidate:0 1 udp 1 94e7b5f1-03ec.local 60417 typ host")
    #expect(candidate.host == .name("94e7b5f1-03ec.local"))
    #expect(candidate.address == nil)
  }

  @Test(
    "the end of candidates is a separate error",
    arguments: ["", "  ", "candidate:", "a=candidate:", "a=end-of-candidates"])
  func end(text: String) {
    #expect(throws: ICECandidate.ParseError.endOfCandidates) { try ICECandidate(parsing: text) }
  }

  @Test("each error names the invalid field")
  func mistakes() {
    func error(_ text: String) -> String? {
      do throws(ICECandidate.ParseError) {
        _ = try ICECandidate(parsing: text)
        return nil
      } catch { return error.description }
    }
    #expect(error("nonsense") == "A candidate must start with \"candidate:\", but this one is \"nonsense\".")
    #expect(error("candidate:1 1 udp 5") == "A candidate needs at least 8 fields, but this one has 4.")
    #expect(error("candidate:1 0 udp 5 10.0.0.1 9 typ host") == "A candidate's component cannot be \"0\".")
    #expect(error("candidate:1 1 udp -5 10.0.0.1 9 typ host") == "A candidate's priority cannot be \"-5\".")
    #expect(error("candidate:1 1 udp 4294967296 10.0.0.1 9 typ host")?.contains("priority") == true)
    #expect(error("candidate:1 1 udp 5 10.0.0.1 65536 typ host") == "A candidate's port cannot be \"65536\".")
    #expect(error("candidate:1 1 udp 5 10.0.0.256 9 typ host") == "A candidate's address cannot be \"10.0.0.256\".")
    #expect(error("candidate:1 1 udp 5 10.0.0.1 9 typ magic") == "The candidate type \"magic\" is unknown.")
    #expect(error("candidate:1 1 udp 5 10.0.0.1 9 kind host") == "A candidate's seventh field cannot be \"kind\".")
    #expect(error("candidate:1 1 udp 5 10.0.0.1 9 typ host odd") == "A candidate's last extension cannot be \"odd\".")
    #expect(error("candidate:a=_#-1 1 udp 5 10.0.0.1 9 typ host") == nil)
    #expect(error("candidate:a.b 1 udp 5 10.0.0.1 9 typ host") == "A candidate's foundation cannot be \"a.b\".")
    #expect(
      error("candidate:é 1 udp 5 10.0.0.1 9 typ host")
        == "A candidate has only ASCII characters, but this one has others."
    )
    let long = "candidate:" + String(repeating: "1", count: 1_015)
    #expect(error(long) == "A candidate may have at most 1024 characters, but this one has 1025.")
  }

  @Test("local candidates have the recommended priorities, the first address before the second")
  func ownPriorities() throws {
    var agent = agent(.controlling, Known.leftCredentials, hosts: [Known.left, Known.leftV6, address("127.0.0.1")])
    agent.addServerReflexive(mapped: address("203.0.113.7", 40_001), base: Known.left)
    let candidates = agent.localCandidates
    #expect(candidates.map(\.type) == [.host, .host, .host, .serverReflexive])
    #expect(candidates.map(\.priority) == candidates.map(\.priority).sorted(by: >))
    #expect(candidates.map { $0.priority >> 24 } == [126, 126, 126, 100])
    #expect(candidates.allSatisfy { $0.component == 1 && $0.priority & 255 == 255 })
    #expect(Set(candidates.map(\.foundation)).count == 4)
    for candidate in candidates { #expect(try ICECandidate(parsing: candidate.attributeValue) == candidate) }
  }
}

@Suite("Addresses")
struct AddressTests {
  @Test(
    "IPv6 text is parsed in every form and written in the canonical form of RFC 5952",
    arguments: [
      ("::", "::"), ("::1", "::1"), ("1::", "1::"), ("2001:DB8::1", "2001:db8::1"),
      ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"), ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"),
      ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"), ("::ffff:192.0.2.1", "::ffff:192.0.2.1"),
      ("::ffff:c000:201", "::ffff:192.0.2.1"), ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"),
      ("64:ff9b::192.0.2.33", "64:ff9b::c000:221"), ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
    ])
  func canonicalForm(text: String, canonical: String) throws {
    let ip = try #require(IPAddress(text))
    #expect(ip.description == canonical)
    #expect(IPAddress(canonical) == ip)
    #expect(IPAddress(bytes: ip.bytes) == ip)
  }

  @Test(
    "text that is not an IP address is rejected",
    arguments: [
      "", ".", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.+4", "a.b.c.d", ":", ":::", "1::2::3",
      "1:2:3:4:5:6:7",
      "1:2:3:4:5:6:7:8:9", "12345::", "::1%eth0", "[::1]", "::1.2.3", "1.2.3.4::", "::+1", "g::", "1:2:3:4:5:6:7:8::",
      "example.org", "::1 ",
    ])
  func noAddress(text: String) {
    #expect(IPAddress(text) == nil)
  }

  @Test("special addresses are recognised")
  func specialAddresses() throws {
    func ip(_ text: String) throws -> IPAddress { try #require(IPAddress(text)) }
    #expect(try ip("127.8.0.1").isLoopback && ip("::1").isLoopback && !ip("128.0.0.1").isLoopback)
    #expect(try ip("0.0.0.0").isUnspecified && ip("::").isUnspecified)
    #expect(try ip("224.0.0.251").isMulticast && ip("ff02::fb").isMulticast && ip("255.255.255.255").isMulticast)
    #expect(try ip("169.254.1.1").isLinkLocal && ip("fe80::1").isLinkLocal && ip("febf::1").isLinkLocal)
    #expect(try !ip("fec0::1").isLinkLocal)
    #expect(address("10.0.0.1", 5_000).description == "10.0.0.1:5000")
    #expect(address("2001:db8::1", 5_000).description == "[2001:db8::1]:5000")
    #expect(IPAddress(bytes: [1, 2, 3]) == nil)
  }
}
