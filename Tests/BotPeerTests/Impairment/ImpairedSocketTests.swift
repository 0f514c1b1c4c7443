import BotPeer
import FaultInjection
import Media
import NIOPosix
import NetworkEmulation
import PeerEngine
import TestSupport
import Testing

extension RealTime {
  @Suite("An impaired peer with real sockets", .serialized)
  struct ImpairedSocketTests {
    @Test("the configured impairment applies to all datagrams, and the statistics count it")
    func configured() async throws {
      let group = MultiThreadedEventLoopGroup.singleton
      var configuration = LoopbackCall.configuration(sending: [.audio, .video])
      configuration.network = .emulating(try Impairment(parsing: "delay=40ms, receive: loss=1%", seed: 3))
      configuration.interceptors = [.injecting(.secondOffer)]
      let alice = try await Peer.start(configuration, on: group.next())
      let bob = try await Peer.start(LoopbackCall.configuration(sending: []), on: group.next())
      let reported = Task {
        for await participantEvent in alice.events {
          if case .signal(let message) = participantEvent.event { bob.receive(message, from: LoopbackCall.aliceID) }
        }
      }
      let limit = Task {
        try await Task.sleep(for: .seconds(20))
        await bob.close(reason: "The test took too long.")
      }
      alice.offer(to: LoopbackCall.bobID)
      var media = SyntheticMedia(seed: 1, start: .now)
      var (heard, offers) = (0, 0)
      for await participantEvent in bob.events {
        if case .signal(let message) = participantEvent.event { alice.receive(message, from: LoopbackCall.bobID) }
        if case .signal(.answer) = participantEvent.event { offers += 1 }
        if case .stateChanged(.connected) = participantEvent.event { for _ in 0..<10 { alice.send(media.audio()) } }
        if case .media(.frame) = participantEvent.event { heard += 1 }
        if heard == 10, offers == 2 { break }
      }
      limit.cancel()
      let statistics = try #require(await alice.statistics().first)
      await alice.close(reason: "The test is over.")
      await bob.close(reason: "The test is over.")
      _ = await reported.value
      #expect(heard == 10 && offers == 2)
      #expect(statistics.faultsInjected == 1)
      let impairment = try #require(statistics.network)
      #expect(impairment.clockStart != nil)
      for kind in [NetworkStatistics.DatagramKind.stun, .dtls, .rtp, .rtcp] {
        let sent = try #require(impairment.sent.byKind[kind])
        #expect(sent.delayed == sent.datagrams && sent.delay >= .milliseconds(40) * Int(sent.datagrams))
      }
      #expect(impairment.received.total.delayed > 0)
      // The delay applies in both directions.
      print("measured: delay=40ms makes a round trip of \((statistics.roundTripTime ?? 0) * 1_000) ms on this machine")
      #expect(statistics.roundTripTime.map { $0 > 0.079 && $0 < 0.3 } == true)
    }
  }
}
