import Foundation
import ICE
import Media
import NIOCore
import NIOPosix
import Signalling
import Testing

@testable import BotPeer

extension RealTime {
  @Suite("Shutdown of a driver")
  struct DriverEndingTests {
    @Test("closing a driver with 200 participants leaves no engine, no driver and no socket")
    func driverIsGone() async throws {
      let loop = MultiThreadedEventLoopGroup.singleton.next()
      let (port, engines, driver) = try await loop.submit {
        let driver = PeerDriver(
          loop: loop, configuration: LoopbackCall.configuration(sending: [.video]), emit: { _ in })
        let addresses = try driver.bind([IPAddress("127.0.0.1") ?? .v4(0)], index: 0)
        for number in 0..<200 {
          let id = ParticipantID("guest \(number)")
          if number % 2 == 0 { driver.offer(to: id) }
          driver.received(
            .candidate(
              TrickledCandidate(candidate: "candidate:1 1 udp 1 127.0.0.1 9 typ host", mid: "0", mLineIndex: 0)),
            from: id)
        }
        let engines = driver.demultiplexer.engines.values.map { Weak($0) }
        for number in 0..<100 {
          driver.disconnect(ParticipantID("guest \(number)"), because: CloseReason(.closedByUs, "Enough."))
        }
        driver.close(reason: "The test is over.")
        return (addresses.first?.port ?? 0, engines, WeakDriver(driver))
      }.get()
      #expect(engines.count == 200)
      #expect(port > 0)
      // The event loop releases the driver in its next iterations, and the engines with it.
      for _ in 0..<200
      where try Self.isBound(port) || driver.driver != nil || engines.contains(where: { $0.engine != nil }) {
        try await Task.sleep(for: .milliseconds(10))
      }
      #expect(try !Self.isBound(port))
      #expect(driver.driver == nil)
      #expect(engines.allSatisfy { $0.engine == nil })
    }

    /// Returns whether this machine has a UDP socket bound to `port` of 127.0.0.1.
    private static func isBound(_ port: UInt16) throws -> Bool {
      let digits = String(port, radix: 16, uppercase: true)
      let entry = "0100007F:" + String(repeating: "0", count: 4 - digits.count) + digits
      return try String(contentsOfFile: "/proc/net/udp", encoding: .utf8).split(separator: "\n").contains {
        $0.split(separator: " ").dropFirst().first.map(String.init) == entry
      }
    }

    /// Set on the event loop; elsewhere only compared with nil.
    private struct Weak: @unchecked Sendable {
      weak var engine: PeerConnection?

      init(_ engine: PeerConnection?) { self.engine = engine }
    }

    private struct WeakDriver: @unchecked Sendable {
      weak var driver: PeerDriver?

      init(_ driver: PeerDriver) { self.driver = driver }
    }
  }
}
