import BotPeer
import Media
import NIOCore
import NIOPosix
import TestSupport
import Testing

extension RealTime {
  @Suite("Data channels of peers with sockets") struct DataChannelPeerTests {
    private static func peers() async throws -> (alice: Peer, bob: Peer) {
      let group = MultiThreadedEventLoopGroup.singleton
      var settings = LoopbackCall.configuration(sending: [])
      settings.dataChannels = DataChannelOptions(opened: [DataChannelConfiguration(label: "data")])
      let alice = try await Peer.start(settings, on: group.next())
      return (alice, try await Peer.start(settings, on: group.next()))
    }

    /// Delivers the signalling of both until both are closed.
    private static func signal(_ alice: Peer, _ bob: Peer) async {
      await withTaskGroup(of: Void.self) { group in
        for (peer, other, id) in [(alice, bob, LoopbackCall.aliceID), (bob, alice, LoopbackCall.bobID)] {
          group.addTask {
            for await event in peer.events {
              if case .signal(let message) = event.event { other.receive(message, from: id) }
            }
          }
        }
      }
    }

    @Test("20 MB come back unaltered, and less than 4 MB wait at a sender at any time")
    func echo() async throws {
      let (alice, bob) = try await Self.peers()
      async let signalling: Void = Self.signal(alice, bob)
      alice.offer(to: LoopbackCall.bobID)
      let echo = Task {
        for await channel in bob.dataChannels {
          for await message in channel.messages { try await channel.send(message) }
        }
      }
      let channel = try #require(await alice.dataChannels.first { _ in true })
      let begun = ContinuousClock.now
      let count = 320
      async let sent = {
        var most = 0
        for number in 0..<count {
          try await channel.send(.binary(ByteBuffer(repeating: UInt8(number & 255), count: 65_536)))
          most = max(most, channel.bufferedAmount)
        }
        return most
      }()
      var received = 0
      for await message in channel.messages {
        #expect(message == .binary(ByteBuffer(repeating: UInt8(received & 255), count: 65_536)))
        received += 1
        if received == count { break }
      }
      let seconds = (ContinuousClock.now - begun) / .seconds(1)
      print("measured: \(Double(count * 65_536) * 8 / seconds / 1e6) Mb/s in each direction")
      #expect(try await sent < 4 << 20)
      await alice.close(reason: "Done.")
      await bob.close(reason: "Done.")
      _ = try await echo.value
      await signalling
    }
  }
}
