import Glibc
import Signalling
import Testing

@Suite("The scope of an address")
struct NetworkScopeTests {
  @Test(
    "an address belongs to this machine, to a private network or to the Internet, also as a part of an IPv6 address",
    arguments: [
      ("127.0.0.1", NetworkScope.loopback), ("127.9.9.9", .loopback), ("0.0.0.0", .loopback), ("::1", .loopback),
      ("::", .loopback), ("::ffff:127.0.0.1", .loopback), ("::127.0.0.1", .loopback), ("64:ff9b::7f00:1", .loopback),
      ("2002:7f00:1::1", .loopback), ("10.0.0.1", .local), ("172.16.0.1", .local), ("172.31.255.255", .local),
      ("192.168.1.1", .local), ("169.254.169.254", .local), ("100.64.0.1", .local), ("224.0.0.1", .local),
      ("255.255.255.255", .local), ("fe80::1", .local), ("fd00::1", .local), ("ff02::fb", .local),
      ("::ffff:10.0.0.1", .local), ("64:ff9b::a00:1", .local), ("2002:c0a8:101::1", .local),
      ("64:ff9b:1::808:808", .local), ("8.8.8.8", .everywhere), ("172.32.0.1", .everywhere),
      ("100.128.0.1", .everywhere), ("192.169.0.1", .everywhere), ("192.0.66.1", .everywhere), ("192.0.0.1", .local),
      ("2606:4700::1111", .everywhere),
      ("::ffff:8.8.8.8", .everywhere), ("64:ff9b::808:808", .everywhere), ("2002:808:808::1", .everywhere),
    ])
  func scope(text: String, scope: NetworkScope) throws {
    let address = try bytes(text)
    #expect(NetworkScope(address: address) == scope)
  }

  private func bytes(_ text: String) throws -> [UInt8] {
    var v4 = in_addr()
    if inet_pton(AF_INET, text, &v4) == 1 { return withUnsafeBytes(of: v4) { Array($0) } }
    var v6 = in6_addr()
    let status = inet_pton(AF_INET6, text, &v6)
    try #require(status == 1)
    return withUnsafeBytes(of: v6) { Array($0) }
  }

  @Test("the scopes are ordered, and bytes of another length are those of this machine")
  func order() {
    #expect(NetworkScope.loopback < .local && .local < .everywhere)
    #expect(NetworkScope(address: []) == .loopback)
    #expect(NetworkScope(address: [8, 8, 8]) == .loopback)
  }
}
