import ICE
import Media
import NIOCore
import NIOPosix
import Testing

@testable import BotPeer
@testable import NetworkEmulation
@testable import PeerEngine

extension RealTime {
  @Suite("A peer with real sockets", .serialized)
  struct BotPeerTests {
    @Test("two peers connect over loopback, and a frame that one sends the other receives unchanged")
    func framesCrossLoopback() async throws {
      let call = try await LoopbackCall()
      var media = MadeUpMedia(seed: 1, start: .now)
      let sent = (0..<30).map { _ in media.picture() }
      let sending = Task {
        for frame in sent {
          call.alice.send(frame)
          try await Task.sleep(for: .milliseconds(33))
        }
      }
      call.alice.offer(to: LoopbackCall.bobID)
      let events = await call.run(
        alice: { $0.contains { if case .ended = $0 { true } else { false } } },
        bob: { events in
          let isEnough = events.pictures.count == 30
          if isEnough { call.bob.disconnect(LoopbackCall.aliceID, because: PeerEnding(.closedByUs, "That is enough.")) }
          return isEnough
        })
      sending.cancel()
      await call.close()
      expectSame(events.bob.pictures, sent.map(\.payload))
      #expect(events.bob.count { $0 == .stateChanged(.connected) } > 0)
      #expect(events.alice.last == .ended(PeerEnding(.closedByParticipant, "The participant closed the connection.")))
    }

    @Test("a participant that names addresses without a route costs nobody the socket")
    func unreachableCandidates() async throws {
      let call = try await LoopbackCall()
      // The kernel refuses each of these from a loopback address, so nothing leaves the machine.
      for address in ["203.0.113.9", "255.255.255.255", "::ffff:203.0.113.9", "2001:db8::9", "0.0.0.0"] {
        call.alice.receive(
          .candidate(
            TrickledCandidate(
              candidate: "candidate:9 1 udp 2122260223 \(address) 9 typ host", mid: "0", mLineIndex: 0)),
          from: LoopbackCall.bobID)
      }
      call.alice.offer(to: LoopbackCall.bobID)
      let events = await call.run(
        alice: { $0.contains(.stateChanged(.connected)) }, bob: { $0.contains(.stateChanged(.connected)) })
      await call.close()
      #expect(events.alice.count { $0 == .stateChanged(.connected) } > 0)
      #expect(events.bob.count { $0 == .stateChanged(.connected) } > 0)
    }

    @Test("a STUN server's answer becomes a server-reflexive candidate for the participant")
    func serverReflexiveCandidate() async throws {
      let mapped = TransportAddress(ip: .v4(0xC000_0263), port: 7777)
      let server = try await MappingServer.start(answering: mapped)
      let configuration = LoopbackCall.configuration(sending: [], iceServers: ["stun:127.0.0.1:\(server.port)"])
      let peer = try await BotPeer.start(configuration, on: MultiThreadedEventLoopGroup.singleton.next())
      peer.offer(to: LoopbackCall.bobID)
      let deadline = Task {
        try await Task.sleep(for: .seconds(10))
        await peer.close(reason: "The test took too long.")
      }
      var candidate: String?
      for await happening in peer.events {
        guard case .signal(.candidate(let trickled)) = happening.event, trickled.candidate.contains("srflx") else {
          continue
        }
        candidate = trickled.candidate
        break
      }
      deadline.cancel()
      await peer.close(reason: "The test is over.")
      await server.stop()
      #expect(candidate?.contains("192.0.2.99 7777 typ srflx raddr 127.0.0.1") == true)
    }

    @Test("an address that is none, and a port that is taken, are named in one sentence")
    func startErrors() async throws {
      let loop = MultiThreadedEventLoopGroup.singleton.next()
      var configuration = LoopbackCall.configuration(sending: [])
      configuration.bindAddresses = ["localhost"]
      await #expect(throws: BotPeer.StartError.badAddress("localhost")) {
        _ = try await BotPeer.start(configuration, on: loop)
      }
      let first = try await BotPeer.start(LoopbackCall.configuration(sending: []), on: loop)
      let port = try #require(first.localAddresses.first?.split(separator: ":").last.flatMap { UInt16($0) })
      configuration.bindAddresses = ["127.0.0.1"]
      configuration.udpPort = port
      let error = await #expect(throws: BotPeer.StartError.self) {
        _ = try await BotPeer.start(configuration, on: loop)
      }
      #expect(error?.description.hasPrefix("No UDP socket could be bound to port \(port): 127.0.0.1:") == true)
      await first.close(reason: "The test is over.")
    }
  }
}

extension [PeerEvent] {
  var pictures: [ByteBuffer] {
    compactMap {
      if case .media(.frame(let frame)) = $0, frame.codec == .vp8 { frame.payload } else { nil }
    }
  }
}
