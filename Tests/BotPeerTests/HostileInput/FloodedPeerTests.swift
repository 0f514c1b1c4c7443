import BotPeer
import Media
import NIOCore
import NIOPosix
import Signalling
import TestSupport
import Testing

extension RealTime {
  @Suite("A flooded bot with real sockets")
  struct FloodedPeerTests {
    @Test("a flooded bot receives every frame of another participant")
    func flood() async throws {
      let call = try await LoopbackCall()
      let port = try #require(call.bob.localAddresses.first?.split(separator: ":").last.flatMap { Int($0) })
      let mallory = ParticipantID("mallory")
      let noise = try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .bind(host: "127.0.0.1", port: 0).get()
      let target = try SocketAddress(ipAddress: "127.0.0.1", port: port)
      let hello = try DTLSConnection(role: .client, identity: DTLSIdentity(), expecting: [])
      hello.start()
      let datagrams =
        hello.takeDatagrams() + [
          ByteBuffer(bytes: [0x00, 0x01, 0, 0, 0x21, 0x12, 0xA4, 0x42] + [UInt8](repeating: 7, count: 12)),
          ByteBuffer(bytes: [0x01, 0x01, 0, 0, 0x21, 0x12, 0xA4, 0x42] + [UInt8](repeating: 7, count: 12)),
          ByteBuffer(bytes: [0x80, 0x60] + [UInt8](repeating: 1, count: 200)),
          ByteBuffer(bytes: [0x80, 0xC8] + [UInt8](repeating: 1, count: 26)), ByteBuffer(bytes: [0xFF]), ByteBuffer(),
        ]
      // One keyframe, which is kept until the call is connected, and with it all frames.
      var media = SyntheticMedia(seed: 1, start: .now, shape: .init(keyframeEvery: 60))
      let sent = (0..<60).map { _ in media.videoFrame() }
      let flooding = Task {
        for round in 0..<200 {
          for _ in 0..<10 {
            for datagram in datagrams {
              noise.write(AddressedEnvelope(remoteAddress: target, data: datagram), promise: nil)
            }
          }
          noise.flush()
          for number in 0..<20 {
            let text = "candidate:\(round) 1 udp \(number) 127.0.0.1 \(1_024 + round * 20 + number) typ host"
            call.bob.receive(
              .candidate(TrickledCandidate(candidate: text, mid: nil, mLineIndex: nil)), from: mallory)
            call.bob.receive(.offer("v=0 \(number)"), from: mallory)
            call.bob.receive(.answer("no \(number)"), from: mallory)
          }
          try await Task.sleep(for: .milliseconds(10))
        }
      }
      let events = await call.deliver(sent, atMost: .seconds(30))
      flooding.cancel()
      try await noise.close()
      expectSame(events.bob.videoFrames, sent.map(\.payload))
      #expect(events.alice.last == .ended(CloseReason(.closedByParticipant, "The participant closed the connection.")))
    }
  }
}
