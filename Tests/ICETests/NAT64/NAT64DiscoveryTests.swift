import ICE
import Media
import Testing

@Suite("Discovery of a NAT64 prefix")
struct NAT64DiscoveryTests {
  private let start = MonotonicInstant.now
  private let answer = ["64:ff9b::c000:aa", "64:ff9b::c000:ab"].compactMap { IPAddress($0) }

  private func discovery() -> NAT64Discovery {
    var discovery = NAT64Discovery()
    discovery.networkChanged(isNeeded: true, now: start)
    return discovery
  }

  @Test("a network without IPv4 is asked once, and the prefix is reported once")
  func found() {
    var discovery = discovery()
    #expect(discovery.isDiscovering)
    #expect(discovery.deadline == start)
    #expect(discovery.poll(now: start) == [.lookUp])
    #expect(discovery.poll(now: start) == [])
    discovery.answered(answer, now: start + .seconds(1))
    #expect(!discovery.isDiscovering)
    #expect(discovery.poll(now: start + .seconds(1)) == [.changed(.wellKnown)])
    #expect(discovery.prefix == .wellKnown)
    #expect(discovery.poll(now: start + .seconds(3600)) == [])
    #expect(discovery.deadline == nil)
  }

  @Test("a network with IPv4 is not asked, and one that gets IPv4 has no prefix any more")
  func notNeeded() {
    var discovery = NAT64Discovery()
    discovery.networkChanged(isNeeded: false, now: start)
    #expect(discovery.deadline == nil)
    #expect(discovery.poll(now: start) == [])
    discovery.networkChanged(isNeeded: true, now: start)
    #expect(discovery.poll(now: start) == [.lookUp])
    discovery.answered(answer, now: start)
    #expect(discovery.poll(now: start) == [.changed(.wellKnown)])
    discovery.networkChanged(isNeeded: false, now: start)
    #expect(discovery.poll(now: start) == [.changed(nil)])
    #expect(discovery.deadline == nil)
  }

  @Test("a network without NAT64 is asked again only when it changes")
  func nothing() {
    var discovery = discovery()
    _ = discovery.poll(now: start)
    discovery.answered([], now: start)
    #expect(!discovery.isDiscovering)
    #expect(discovery.deadline == nil)
    discovery.networkChanged(isNeeded: true, now: start + .seconds(9))
    #expect(discovery.isDiscovering)
    #expect(discovery.poll(now: start + .seconds(9)) == [.lookUp])
  }

  @Test("a resolver that does not answer is asked again after 2, 4, 8 … 60 s")
  func failures() throws {
    var discovery = discovery()
    var time = start
    for pause in [2, 4, 8, 16, 32, 60, 60] {
      #expect(discovery.poll(now: time) == [.lookUp])
      discovery.answered(nil, now: time)
      #expect(!discovery.isDiscovering)
      #expect(discovery.deadline == time + .seconds(pause))
      time += .seconds(pause)
    }
  }

  @Test("a lookup may take 5 s; a late answer is used, and no other lookup begins before")
  func timeout() {
    var discovery = discovery()
    _ = discovery.poll(now: start)
    #expect(discovery.deadline == start + .seconds(5))
    #expect(discovery.isDiscovering)
    #expect(discovery.poll(now: start + .seconds(5)) == [])
    #expect(!discovery.isDiscovering)
    #expect(discovery.deadline == nil)
    #expect(discovery.poll(now: start + .seconds(20)) == [])
    discovery.answered(answer, now: start + .seconds(21))
    #expect(discovery.poll(now: start + .seconds(21)) == [.changed(.wellKnown)])
  }

  @Test("an answer of the former network is not used")
  func formerNetwork() {
    var discovery = discovery()
    _ = discovery.poll(now: start)
    discovery.networkChanged(isNeeded: true, now: start + .seconds(1))
    #expect(discovery.poll(now: start + .seconds(1)) == [])
    discovery.answered(answer, now: start + .seconds(2))
    #expect(discovery.prefix == nil)
    #expect(discovery.poll(now: start + .seconds(2)) == [.lookUp])
    discovery.answered([], now: start + .seconds(3))
    #expect(discovery.poll(now: start + .seconds(3)) == [])
  }
}
