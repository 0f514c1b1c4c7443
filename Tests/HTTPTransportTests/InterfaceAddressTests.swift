import LocalInterfaces
import Testing

@Suite("Addresses of interfaces")
struct InterfaceAddressTests {
  /// netdevice(7).
  private static let (up, loopback, running): (UInt32, UInt32, UInt32) = (0x1, 0x8, 0x40)

  @Test("an address counts as ours only while its interface is up and connected")
  func interfaceDown() {
    func list(_ flags: UInt32) -> [InterfaceAddress] {
      [
        InterfaceAddress(interface: "lo", address: "127.0.0.1", flags: Self.up | Self.loopback | Self.running),
        InterfaceAddress(interface: "eth0", address: "192.0.2.7", flags: flags),
        InterfaceAddress(interface: "eth0", address: "2001:db8::7", flags: flags),
      ]
    }
    let works = list(Self.up | Self.running)
    for address in ["127.0.0.1", "192.0.2.7", "::ffff:192.0.2.7", "2001:db8::7"] {
      #expect(works.haveUsable(address), "\(address)")
    }
    #expect(!works.haveUsable("192.0.2.8"))
    // Set down by an administrator, and without a carrier.
    for flags in [0, Self.running, Self.up] {
      for address in ["192.0.2.7", "::ffff:192.0.2.7", "2001:db8::7"] {
        #expect(!list(flags).haveUsable(address), "\(address) with the flags \(flags)")
      }
      #expect(list(flags).haveUsable("127.0.0.1"))
    }
  }

  @Test("the addresses of this machine are listed, with loopback, and without zones")
  func thisMachine() throws {
    let all = try InterfaceAddress.all()
    #expect(all.haveUsable("127.0.0.1"))
    #expect(!all.contains { $0.address.contains("%") })
  }
}
