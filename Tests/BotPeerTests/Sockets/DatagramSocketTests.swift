import Glibc
import ICE
import Media
import NIOCore
import Testing

@testable import BotPeer

extension RealTime {
  @Suite("The UDP socket that all participants share")
  struct DatagramSocketTests {
    private static let loopback: [IPAddress] = [.v4(0x7F00_0001), .v6(high: 0, low: 1)]

    /// Returns the datagrams received, after waiting up to 1 s for `count` of them.
    private func receive(
      _ socket: DatagramSocket, atLeast count: Int
    ) async throws -> [(datagram: ByteBuffer, from: TransportAddress, arrival: ContinuousClock.Instant)] {
      var all: [(ByteBuffer, TransportAddress, ContinuousClock.Instant)] = []
      for _ in 0..<200 where all.count < count {
        _ = socket.receive { all.append(($0, $1, $2.instant)) }
        if all.count < count { try await Task.sleep(for: .milliseconds(5)) }
      }
      return all
    }

    @Test("a socket delivers datagrams with their senders' addresses, over IPv4 and IPv6", arguments: loopback)
    func carries(ip: IPAddress) async throws {
      let one = try DatagramSocket(ip: ip, port: 0)
      let other = try DatagramSocket(ip: ip, port: 0)
      for size in [1, 100, 1_500] {
        one.write(ByteBuffer(repeating: UInt8(truncatingIfNeeded: size), count: size), to: other.address)
      }
      one.flush()
      let received = try await receive(other, atLeast: 3)
      #expect(received.map(\.datagram.readableBytes) == [1, 100, 1_500])
      #expect(received.allSatisfy { $0.from == one.address })
      #expect(received.last?.datagram.readableBytesView.allSatisfy { $0 == 220 } == true)
      // Each datagram has storage of its own.
      var first = received[1].datagram
      first.setInteger(UInt8(7), at: first.readerIndex)
      #expect(received[2].datagram.getInteger(at: 0, as: UInt8.self) == 220)
    }

    /// Waits until the kernel records arrival times. It begins some time after the first socket of the machine asks for
    /// them; until then a datagram gets the time at which it is read.
    private func awaitArrivalTimes(from one: DatagramSocket, to other: DatagramSocket) async throws {
      for _ in 0..<200 {
        one.write(ByteBuffer(integer: UInt8(255)), to: other.address)
        one.flush()
        try await Task.sleep(for: .milliseconds(20))
        let read = ContinuousClock.now
        if try await receive(other, atLeast: 1).allSatisfy({ $0.arrival < read - .milliseconds(10) }) { return }
      }
      Issue.record("the kernel records no arrival times")
    }

    @Test("each datagram carries its own arrival time, though several are read together")
    func arrivals() async throws {
      let one = try DatagramSocket(ip: .v4(0x7F00_0001), port: 0)
      let other = try DatagramSocket(ip: .v4(0x7F00_0001), port: 0)
      try await awaitArrivalTimes(from: one, to: other)
      var sent: [ClosedRange<ContinuousClock.Instant>] = []
      for number in 0..<3 {
        one.write(ByteBuffer(integer: UInt8(number)), to: other.address)
        let begun = ContinuousClock.now
        one.flush()
        // Over loopback the kernel receives a datagram, and takes its time, while it is sent.
        sent.append(begun...ContinuousClock.now)
        try await Task.sleep(for: .milliseconds(30))
      }
      let received = try await receive(other, atLeast: 3)
      #expect(received.count == 3)
      for (sent, received) in zip(sent, received) {
        #expect(received.arrival - sent.lowerBound > .milliseconds(-5))
        #expect(received.arrival - sent.upperBound < .milliseconds(25))
      }
    }

    @Test("no datagram appears to arrive before it was sent, however long the handling of earlier datagrams takes")
    func slowHandling() async throws {
      let one = try DatagramSocket(ip: .v4(0x7F00_0001), port: 0)
      let other = try DatagramSocket(ip: .v4(0x7F00_0001), port: 0)
      let begun = ContinuousClock.now
      for number in 0..<200 { one.write(ByteBuffer(integer: UInt8(number)), to: other.address) }
      one.flush()
      var late: ContinuousClock.Instant?
      var arrivals: [Duration] = []
      for _ in 0..<100 where arrivals.count < 201 {
        _ = other.receive { datagram, _, arrival in
          if arrivals.isEmpty {
            // A datagram that is sent meanwhile is read by the same call.
            usleep(60_000)
            late = .now
            one.write(ByteBuffer(integer: UInt8(255)), to: other.address)
            one.flush()
          }
          let isLate = datagram.getInteger(at: datagram.readerIndex, as: UInt8.self) == 255
          arrivals.append(arrival.instant - (isLate ? late ?? begun : begun))
        }
        if arrivals.count < 201 { try await Task.sleep(for: .milliseconds(5)) }
      }
      #expect(arrivals.count == 201)
      let earliest = arrivals.min() ?? .zero
      #expect(earliest > .milliseconds(-20))
    }

    @Test("a datagram that cannot be sent affects no other: no route, closed port, too long, other address family")
    func unreachable() async throws {
      let one = try DatagramSocket(ip: .v4(0x7F00_0001), port: 0)
      let other = try DatagramSocket(ip: .v4(0x7F00_0001), port: 0)
      let gone = try DatagramSocket(ip: .v4(0x7F00_0001), port: 0)
      gone.close()
      for address in [
        TransportAddress(ip: .v4(0xCB00_7109), port: 9), TransportAddress(ip: .v4(0xFFFF_FFFF), port: 9),
        TransportAddress(ip: .v6(high: 0, low: 1), port: 9), TransportAddress(ip: .v4(0), port: 0), gone.address,
      ] {
        one.write(ByteBuffer(string: "nobody"), to: address)
        one.write(ByteBuffer(string: "somebody"), to: other.address)
        _ = one.receive { _, _, _ in }
      }
      one.write(ByteBuffer(repeating: 1, count: 100_000), to: other.address)
      one.write(ByteBuffer(repeating: 1, count: 3_000), to: other.address)
      one.write(ByteBuffer(string: "hello"), to: other.address)
      one.flush()
      let received = try await receive(other, atLeast: 6)
      // A datagram that cannot be sent does not block those behind it; one that is longer than any packet the peer sends
      // is not sent.
      let expected = Array(repeating: ByteBuffer(string: "somebody"), count: 5) + [ByteBuffer(string: "hello")]
      #expect(received.map(\.datagram) == expected)
      #expect(one.datagramsDropped == 0)
    }

    @Test("a port that is already bound is reported with the system's error message")
    func taken() throws {
      let one = try DatagramSocket(ip: .v4(0x7F00_0001), port: 0)
      #expect(throws: DatagramSocket.Failure.self) { try DatagramSocket(ip: .v4(0x7F00_0001), port: one.address.port) }
      do {
        _ = try DatagramSocket(ip: .v4(0xCB00_7109), port: 0)
        Issue.record("The socket was bound to an address of another machine.")
      } catch {
        #expect(error.description == "Cannot assign requested address")
      }
    }
  }
}
