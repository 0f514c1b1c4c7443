import BotPeer
import Media
import NIOCore
import NIOPosix
import Signalling
import TestSupport
import Testing

extension RealTime {
  @Suite("Frames to some of the participants", .serialized)
  struct SelectedParticipantsTests {
    @Test("frames reach those that they are sent to, in order, from any thread, and no others", arguments: [1, 2])
    func selected(shards: Int) async throws {
      let group = MultiThreadedEventLoopGroup(numberOfThreads: 3)
      let loops = Array(group.makeIterator())
      let hub = try await Peer.start(
        LoopbackCall.configuration(sending: [.video]), on: loops[0], and: Array(loops[1..<shards]))
      let hubID = ParticipantID("hub")
      var started: [ParticipantID: Peer] = [:]
      for name in ["a", "b", "c"] {
        started[ParticipantID(name)] = try await Peer.start(LoopbackCall.configuration(sending: []), on: loops[2])
      }
      let viewers = started
      let chosen = [ParticipantID("a"), ParticipantID("b")]
      var media = SyntheticMedia(seed: 1, start: .now)
      let sent = (0..<20).map { _ in media.videoFrame() }
      @Sendable func closeAll() async {
        await hub.close(reason: "The test is over.")
        for viewer in viewers.values { await viewer.close(reason: "The test is over.") }
      }
      let limit = Task {
        try await Task.sleep(for: .seconds(20))
        await closeAll()
      }
      let hubEvents = Task {
        var connected = 0
        for await event in hub.events {
          if case .signal(let message) = event.event { viewers[event.participant]?.receive(message, from: hubID) }
          guard event.event == .stateChanged(.connected) else { continue }
          connected += 1
          guard connected == viewers.count else { continue }
          for (number, frame) in sent.enumerated() {
            if number.isMultiple(of: 2) {
              hub.send(frame, to: chosen)
            } else {
              try await loops[0].submit { hub.send(frame, to: chosen) }.get()
            }
          }
        }
      }
      for id in viewers.keys { hub.offer(to: id) }
      let received = await withTaskGroup(of: (id: ParticipantID, events: [PeerEvent]).self) { tasks in
        for (id, viewer) in viewers {
          tasks.addTask {
            var events: [PeerEvent] = []
            for await event in viewer.events {
              if case .signal(let message) = event.event { hub.receive(message, from: id) }
              events.append(event.event)
              if events.videoFrames.count == sent.count { break }
            }
            return (id, events)
          }
        }
        var received: [ParticipantID: [PeerEvent]] = [:]
        for await (id, events) in tasks {
          received[id] = events
          if received.count == chosen.count { await closeAll() }
        }
        return received
      }
      limit.cancel()
      try await hubEvents.value
      for id in chosen { expectSame(received[id]?.videoFrames ?? [], sent.map(\.payload)) }
      #expect(received[ParticipantID("c")]?.videoFrames.isEmpty == true)
      try await group.shutdownGracefully()
    }
  }
}
