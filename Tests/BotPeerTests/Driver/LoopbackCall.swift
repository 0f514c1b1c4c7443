import BotPeer
import Media
import NIOCore
import NIOPosix
import Signalling

/// Two peers of this process with real sockets on the loopback interface; each peer's signalling is delivered to the
/// other.
struct LoopbackCall {
  let alice: Peer
  let bob: Peer
  /// Returns what arrives of a message and its sender.
  var alter: @Sendable (SignallingMessage, ParticipantID) -> SignallingMessage = { message, _ in message }

  static let aliceID = ParticipantID("alice")
  static let bobID = ParticipantID("bob")

  static func configuration(sending: Set<MediaKind>, iceServers: [ICEServer] = []) -> Peer.Configuration {
    var configuration = Peer.Configuration()
    configuration.bindAddresses = ["127.0.0.1"]
    configuration.sending = sending
    configuration.iceServers = iceServers
    return configuration
  }

  init(aliceSends: Set<MediaKind> = [.audio, .video], bobSends: Set<MediaKind> = []) async throws {
    let group = MultiThreadedEventLoopGroup.singleton
    alice = try await Peer.start(Self.configuration(sending: aliceSends), on: group.next())
    bob = try await Peer.start(Self.configuration(sending: bobSends), on: group.next())
  }

  init(alice: Peer, bob: Peer, alter: @escaping @Sendable (SignallingMessage, ParticipantID) -> SignallingMessage) {
    self.alice = alice
    self.bob = bob
    self.alter = alter
  }

  /// Delivers signalling until each side's events satisfy its condition or `limit` has passed. Returns the events of both
  /// sides.
  func run(
    alice wanted: @escaping @Sendable ([PeerEvent]) -> Bool, bob other: @escaping @Sendable ([PeerEvent]) -> Bool,
    atMost limit: Duration = .seconds(20)
  ) async -> (alice: [PeerEvent], bob: [PeerEvent]) {
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        try? await Task.sleep(for: limit)
        await self.close()
      }
      async let aliceEvents = follow(alice, with: Self.bobID, tell: bob, as: Self.aliceID, until: wanted)
      async let bobEvents = follow(bob, with: Self.aliceID, tell: alice, as: Self.bobID, until: other)
      let events = await (aliceEvents, bobEvents)
      group.cancelAll()
      return events
    }
  }

  /// Alice calls Bob and sends frames, 30 a second, until Bob has as many and hangs up. Returns the events of both sides.
  func deliver(
    _ frames: [EncodedFrame], atMost limit: Duration = .seconds(20)
  ) async -> (alice: [PeerEvent], bob: [PeerEvent]) {
    let sending = Task {
      for frame in frames {
        alice.send(frame)
        try await Task.sleep(for: .milliseconds(33))
      }
    }
    alice.offer(to: Self.bobID)
    let events = await run(
      alice: { $0.contains { if case .ended = $0 { true } else { false } } },
      bob: { events in
        let isEnough = events.videoFrames.count == frames.count
        if isEnough { bob.disconnect(Self.aliceID, because: CloseReason(.closedByUs, "That is enough.")) }
        return isEnough
      }, atMost: limit)
    sending.cancel()
    await close()
    return events
  }

  func close() async {
    await alice.close(reason: "The test is over.")
    await bob.close(reason: "The test is over.")
  }

  private func follow(
    _ peer: Peer, with participant: ParticipantID, tell other: Peer, as id: ParticipantID,
    until isEnough: @Sendable ([PeerEvent]) -> Bool
  ) async -> [PeerEvent] {
    var events: [PeerEvent] = []
    for await participantEvent in peer.events where participantEvent.participant == participant {
      if case .signal(let message) = participantEvent.event { other.receive(alter(message, id), from: id) }
      events.append(participantEvent.event)
      if isEnough(events) { break }
    }
    return events
  }
}
