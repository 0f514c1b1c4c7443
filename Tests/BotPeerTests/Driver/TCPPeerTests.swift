import BotPeer
import Media
import NIOCore
import NIOPosix
import NetworkEmulation
import Signalling
import TestSupport
import Testing

extension RealTime {
  @Suite("Calls over TCP", .serialized)
  struct TCPPeerTests {
    /// The maximum number of connections from one address that have sent no authentic check.
    private static let maximumSilent = 32

    private static func configuration(sending: Set<MediaKind>) -> Peer.Configuration {
      var configuration = LoopbackCall.configuration(sending: sending)
      configuration.usesTCP = true
      return configuration
    }

    /// Two peers that never learn each other's UDP addresses.
    private static func call(aliceOpens: Bool, bobOpens: Bool, bob impairment: String? = nil) async throws
      -> LoopbackCall
    {
      let group = MultiThreadedEventLoopGroup.singleton
      var bob = configuration(sending: [])
      bob.network = try impairment.map { .emulating(try Impairment(parsing: $0, seed: 1)) }
      return try await LoopbackCall(
        alice: Peer.start(configuration(sending: [.video]), on: group.next()),
        bob: Peer.start(bob, on: group.next()),
        alter: { message, sender in
          let type = (sender == LoopbackCall.aliceID ? bobOpens : aliceOpens) ? "passive" : "active"
          return message.keepingCandidates { $0.contains(" tcptype \(type)") }
        })
    }

    @Test("a connection that sends nothing is closed after 5 s, and one that sends noise at once")
    func withoutCheck() async throws {
      let group = MultiThreadedEventLoopGroup.singleton
      let peer = try await Peer.start(Self.configuration(sending: []), on: group.next())
      let start = ContinuousClock.now
      let silent = try await Self.connection(to: peer)
      let noisy = try await Self.connection(to: peer)
      let noise = [0, 200] + (0..<200).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      noisy.writeAndFlush(ByteBuffer(bytes: noise), promise: nil)
      let limit = Task {
        try await Task.sleep(for: .seconds(30))
        for connection in [silent, noisy] { connection.close(promise: nil) }
      }
      try? await noisy.closeFuture.get()
      #expect(silent.isActive)
      try? await silent.closeFuture.get()
      limit.cancel()
      let elapsed = ContinuousClock.now - start
      #expect(elapsed > .seconds(4) && elapsed < .seconds(29))
      await peer.close(reason: "The test is over.")
    }

    private static func connection(to peer: Peer) async throws -> any Channel {
      let listening = try #require(peer.localAddresses.first { $0.hasSuffix("/tcp") })
      let port = try #require(listening.dropLast(4).split(separator: ":").last.flatMap { Int($0) })
      return try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .connect(host: "127.0.0.1", port: port).get()
    }

    @Test("connections that carry nothing are limited, and a call over TCP is made beside them")
    func silence() async throws {
      let group = MultiThreadedEventLoopGroup.singleton
      var configuration = Self.configuration(sending: [.video])
      configuration.bindAddresses = ["127.0.0.2"]
      let call = try await LoopbackCall(
        alice: Peer.start(configuration, on: group.next()),
        bob: Peer.start(Self.configuration(sending: []), on: group.next()),
        alter: { message, _ in message.keepingCandidates { $0.contains(" tcptype ") } })
      var silent: [any Channel] = []
      for _ in 0..<60 { silent.append(try await Self.connection(to: call.bob)) }
      let end = ContinuousClock.now + .seconds(20)
      while silent.count(where: \.isActive) > Self.maximumSilent, .now < end {
        try await Task.sleep(for: .milliseconds(20))
      }
      let open = silent.count(where: \.isActive)
      #expect(open > 0 && open <= Self.maximumSilent)
      var media = SyntheticMedia(seed: 1, start: .now)
      let sent = (0..<30).map { _ in media.videoFrame() }
      let events = await call.deliver(sent)
      expectSame(events.bob.videoFrames, sent.map(\.payload))
    }

    @Test("frames arrive unchanged over a connection that either side opens", arguments: [true, false])
    func frames(offererOpens: Bool) async throws {
      let call = try await Self.call(aliceOpens: offererOpens, bobOpens: !offererOpens)
      var media = SyntheticMedia(seed: 1, start: .now)
      let sent = (0..<30).map { _ in media.videoFrame() }
      let events = await call.deliver(sent)
      expectSame(events.bob.videoFrames, sent.map(\.payload))
      let paths = events.bob.compactMap { if case .pathSelected(let types) = $0 { types } else { nil } }
      #expect(paths.map(\.transport) == ["tcp"])
      Self.expectGoodbye(in: events.alice)
    }

    @Test("a peer that leaves says so also while what it sends is delayed")
    func delayedGoodbye() async throws {
      let call = try await Self.call(aliceOpens: true, bobOpens: false, bob: "send: delay=300ms")
      var media = SyntheticMedia(seed: 1, start: .now)
      let events = await call.deliver((0..<30).map { _ in media.videoFrame() })
      Self.expectGoodbye(in: events.alice)
    }

    private static func expectGoodbye(in events: [PeerEvent]) {
      #expect(events.last == .ended(CloseReason(.closedByParticipant, "The participant closed the connection.")))
    }
  }
}

extension SignallingMessage {
  /// The message without the candidates that do not fulfil a condition; an emptied candidate ends the candidates.
  func keepingCandidates(where isWanted: (String) -> Bool) -> SignallingMessage {
    func kept(_ sdp: String) -> String {
      sdp.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("a=candidate:") || isWanted(String($0)) }
        .map { "\($0)\r\n" }.joined()
    }
    switch self {
    case .offer(let sdp): return .offer(kept(sdp))
    case .answer(let sdp): return .answer(kept(sdp))
    case .candidate(var trickled):
      if !isWanted(trickled.candidate) { trickled.candidate = "" }
      return .candidate(trickled)
    }
  }
}
