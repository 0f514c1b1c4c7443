import ICE
import Testing

@Suite("NAT64 prefixes")
struct NAT64PrefixTests {
  /// The examples of RFC 6052, 2.4.
  static let examples: [(prefix: String, length: Int, address: String)] = [
    ("2001:db8::", 32, "2001:db8:c000:221::"),
    ("2001:db8:100::", 40, "2001:db8:1c0:2:21::"),
    ("2001:db8:122::", 48, "2001:db8:122:c000:2:2100::"),
    ("2001:db8:122:300::", 56, "2001:db8:122:3c0:0:221::"),
    ("2001:db8:122:344::", 64, "2001:db8:122:344:c0:2:2100::"),
    ("2001:db8:122:344::", 96, "2001:db8:122:344::192.0.2.33"),
  ]

  private func ip(_ text: String) throws -> IPAddress { try #require(IPAddress(text)) }

  private func prefix(_ text: String, _ length: Int) throws -> NAT64Prefix {
    try #require(NAT64Prefix(ip(text), length: length))
  }

  @Test("the examples of RFC 6052 are synthesised, and read back", arguments: examples)
  func vectors(example: (prefix: String, length: Int, address: String)) throws {
    let prefix = try prefix(example.prefix, example.length)
    let (v4, v6) = try (ip("192.0.2.33"), ip(example.address))
    #expect(prefix.synthesized(from: v4) == v6)
    #expect(prefix.embedded(in: v6) == v4)
    #expect(prefix.description == "\(example.prefix)/\(example.length)")
    #expect(prefix.embedded(in: try ip("2001:db9::1")) == nil)
    #expect(prefix.embedded(in: v4) == nil)
    #expect(prefix.synthesized(from: v6) == nil)
  }

  @Test("192.0.2.33 is read from the well-known prefix")
  func wellKnown() throws {
    #expect(NAT64Prefix.wellKnown.embedded(in: try ip("64:ff9b::192.0.2.33")) == (try ip("192.0.2.33")))
    #expect(NAT64Prefix.wellKnown.synthesized(from: try ip("8.8.4.4")) == (try ip("64:ff9b::808:404")))
    #expect(NAT64Prefix.wellKnown.description == "64:ff9b::/96")
  }

  @Test("an address has no prefix of another length, or if its bits 64 to 71 are not zero")
  func invalid() throws {
    for length in [-1, 0, 33, 95, 97, 128] { #expect(NAT64Prefix(try ip("2001:db8::"), length: length) == nil) }
    #expect(NAT64Prefix(try ip("192.0.2.1"), length: 32) == nil)
    for length in NAT64Prefix.lengths { #expect(NAT64Prefix(try ip("2001:db8::100:0:0:0"), length: length) == nil) }
  }

  @Test(
    "what no router passes on is not synthesised",
    arguments: [
      "0.0.0.0", "0.1.2.3", "127.0.0.1", "127.255.1.1", "169.254.1.1", "224.0.0.251", "240.0.0.1", "255.255.255.255",
    ])
  func unroutable(text: String) throws {
    #expect(NAT64Prefix.wellKnown.synthesized(from: try ip(text)) == nil)
    #expect(try prefix("2001:db8:64::", 96).synthesized(from: ip(text)) == nil)
  }

  @Test(
    "the well-known prefix stands only for global addresses, and that of a network for private ones too",
    arguments: [
      "10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1", "192.0.0.170", "192.0.2.33", "198.51.100.1", "203.0.113.1",
      "198.18.0.1", "198.19.255.255",
    ])
  func notGlobal(text: String) throws {
    #expect(NAT64Prefix.wellKnown.synthesized(from: try ip(text)) == nil)
    #expect(try prefix("2001:db8:64::", 96).synthesized(from: ip(text)) != nil)
  }

  @Test("the prefix of each length is found in the addresses of ipv4only.arpa", arguments: examples)
  func discovery(example: (prefix: String, length: Int, address: String)) throws {
    let prefix = try prefix(example.prefix, example.length)
    let answer = try ["192.0.0.170", "192.0.0.171"].map { try #require(prefix.synthesized(from: ip($0))) }
    #expect(NAT64Prefix.found(in: answer) == [prefix])
    #expect(NAT64Prefix.found(in: [answer[1]]) == [prefix])
  }

  @Test("several prefixes are found in the order of the answer")
  func several() throws {
    let answer = try ["2001:db8:64::c000:aa", "64:ff9b::c000:aa", "2001:db8:64::c000:ab", "64:ff9b::c000:ab"].map(ip)
    #expect(NAT64Prefix.found(in: answer) == [try prefix("2001:db8:64::", 96), .wellKnown])
  }

  @Test("an address with the IPv4 address at two positions is understood only with the other one")
  func ambiguous() throws {
    // 192.0.0.170 stands at bit 32 and at bit 96.
    let first = try ip("2001:db8:c000:aa:0:0:c000:aa")
    let second = try ip("2001:db8:c000:aa:0:0:c000:ab")
    #expect(NAT64Prefix.found(in: [first]) == [])
    #expect(NAT64Prefix.found(in: [first, first]) == [])
    #expect(NAT64Prefix.found(in: [first, second]) == [try prefix("2001:db8:c000:aa::", 96)])
  }

  @Test("an answer without 192.0.0.170 and 192.0.0.171 has no prefix")
  func nothing() throws {
    let answer = try [
      "192.0.0.170", "2001:db8::1", "2001:db8::c000:ac", "::ffff:192.0.0.172", "2001:db8::100:0:c000:aa",
    ]
    .map(ip)
    #expect(NAT64Prefix.found(in: answer) == [])
    #expect(NAT64Prefix.found(in: []) == [])
  }
}
