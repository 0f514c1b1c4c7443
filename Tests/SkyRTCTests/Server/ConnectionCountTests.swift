import NIOCore
import SkyRTC
import Testing

@Suite("Connection limits")
struct ConnectionCountTests {
  private func address(_ text: String) throws -> SocketAddress { try SocketAddress(ipAddress: text, port: 1) }

  @Test(
    "one address has its limit, and others are admitted", arguments: ["192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1"])
  func share(text: String) throws {
    var count = ConnectionCount(maximum: 1_000, maximumPerAddress: 250)
    let greedy = try address(text)
    for _ in 0..<250 { #expect(count.open(greedy) == nil) }
    #expect(count.open(greedy) == .address(250))
    #expect(try count.open(address("198.51.100.7")) == nil)
    #expect(count.total == 251)
    count.close(greedy)
    #expect(count.open(greedy) == nil)
    #expect(count.open(greedy) == .address(250))
  }

  @Test("an IPv6 network of 64 bits counts as one address, and so do both notations of an IPv4 address")
  func networks() throws {
    var count = ConnectionCount(maximum: 10, maximumPerAddress: 2)
    #expect(try count.open(address("2001:db8::1")) == nil)
    #expect(try count.open(address("2001:db8::ffff:2")) == nil)
    #expect(try count.open(address("2001:db8::3")) == .address(2))
    #expect(try count.open(address("2001:db8:0:1::3")) == nil)
    #expect(try count.open(address("192.0.2.1")) == nil)
    #expect(try count.open(address("::ffff:192.0.2.1")) == nil)
    #expect(try count.open(address("192.0.2.1")) == .address(2))
  }

  @Test("a network has a name, this machine has none")
  func names() throws {
    func name(_ text: String) throws -> String { try ConnectionCount.networkName(of: address(text)) }
    #expect(try name("192.0.2.1") == "c0:0:2:1")
    #expect(try name("::ffff:192.0.2.1") == "c0:0:2:1")
    #expect(try name("2001:db8::1") == name("2001:db8::ffff:2"))
    #expect(try name("2001:db8::1") != name("2001:db8:0:1::1"))
    #expect(try name("127.0.0.1") == "" && name("::1") == "" && name("::ffff:127.0.0.1") == "")
    #expect(ConnectionCount.networkName(of: nil) == "")
  }

  @Test("loopback addresses are limited only by the total", arguments: ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
  func loopback(text: String) throws {
    var count = ConnectionCount(maximum: 10, maximumPerAddress: 2)
    for _ in 0..<10 { #expect(try count.open(address(text)) == nil) }
    #expect(try count.open(address(text)) == .all(10))
    #expect(try count.open(address("192.0.2.1")) == .all(10))
  }
}
