import BotPeer
import ICE
import Media
import NIOCore
import NIOPosix
import Signalling
import TestSupport
import Testing

extension RealTime {
  @Suite("A peer with real sockets", .serialized)
  struct PeerTests {
    @Test("two peers connect over loopback, and frames arrive unchanged")
    func framesCrossLoopback() async throws {
      let call = try await LoopbackCall()
      var media = SyntheticMedia(seed: 1, start: .now)
      let sent = (0..<30).map { _ in media.videoFrame() }
      let events = await call.deliver(sent)
      expectSame(events.bob.videoFrames, sent.map(\.payload))
      #expect(events.bob.count { $0 == .stateChanged(.connected) } > 0)
      #expect(events.alice.last == .ended(CloseReason(.closedByParticipant, "The participant closed the connection.")))
    }

    @Test("participants are distributed over the threads of a peer, and each one's frames arrive unchanged")
    func shards() async throws {
      let group = MultiThreadedEventLoopGroup(numberOfThreads: 3)
      let loops = Array(group.makeIterator())
      let hub = try await Peer.start(LoopbackCall.configuration(sending: []), on: loops[0], and: [loops[1]])
      #expect(Set(hub.localAddresses).count == 2)
      let hubID = ParticipantID("hub")
      var started: [(id: ParticipantID, peer: Peer)] = []
      for index in 0..<4 {
        let peer = try await Peer.start(LoopbackCall.configuration(sending: [.video]), on: loops[2])
        started.append((ParticipantID("publisher \(index)"), peer))
      }
      let publishers = started
      var media = SyntheticMedia(seed: 1, start: .now)
      let sent = (0..<20).map { _ in media.videoFrame() }
      let wanted = publishers.count * sent.count
      let events = await withTaskGroup(of: [ParticipantEvent].self) { tasks in
        for (id, peer) in publishers {
          tasks.addTask {
            for await participantEvent in peer.events {
              if case .signal(let message) = participantEvent.event { hub.receive(message, from: id) }
              guard participantEvent.event == .stateChanged(.connected) else { continue }
              for frame in sent { peer.send(frame) }
            }
            return []
          }
          peer.offer(to: hubID)
        }
        tasks.addTask {
          try? await Task.sleep(for: .seconds(20))
          await hub.close(reason: "The test took too long.")
          return []
        }
        tasks.addTask {
          var events: [ParticipantEvent] = []
          var videoFrames = 0
          for await participantEvent in hub.events {
            events.append(participantEvent)
            if case .signal(let message) = participantEvent.event {
              publishers.first { $0.id == participantEvent.participant }?.peer.receive(message, from: hubID)
            }
            if case .media(.frame) = participantEvent.event { videoFrames += 1 }
            if videoFrames == wanted { break }
          }
          for (_, peer) in publishers { await peer.close(reason: "The test is over.") }
          return events
        }
        var all: [ParticipantEvent] = []
        for await events in tasks where !events.isEmpty {
          all = events
          tasks.cancelAll()
        }
        return all
      }
      for (id, _) in publishers {
        let videoFrames = events.filter { $0.participant == id }.map(\.event).videoFrames
        expectSame(videoFrames, sent.map(\.payload))
      }
      await hub.close(reason: "The test is over.")
      try await group.shutdownGracefully()
    }

    @Test("a participant stays on one thread until the connection ends, and threads have equal numbers of participants")
    func assignments() {
      let assignments = ShardAssignments(count: 3)
      let ids = (0..<9).map { ParticipantID("\($0)") }
      let first = ids.map { assignments.assign($0) }
      for shard in 0..<3 { #expect(first.count { $0 == shard } == 3) }
      let again = ids.map { assignments.assign($0) }
      #expect(again == first)
      let now = MonotonicInstant.now
      let ended = ids.filter { assignments.shard(of: $0) == 1 }
      for id in ended { assignments.connectionEnded(id, now: now) }
      // Messages that are still in flight to the shard must find it.
      #expect(ended.count { assignments.shard(of: $0) == 1 } == 3)
      let newcomers = (10..<13).map { assignments.assign(ParticipantID("\($0)"), now: now) }
      #expect(newcomers == [1, 1, 1])
      for number in 100..<200 { _ = assignments.assign(ParticipantID("\(number)"), now: now + .seconds(61)) }
      #expect(ended.count { assignments.shard(of: $0) == nil } == 3)
      #expect(ids.count { assignments.shard(of: $0) == nil } == 3)
    }

    @Test("a participant's candidates without a route do not break the socket for others")
    func unreachableCandidates() async throws {
      let call = try await LoopbackCall()
      // The kernel refuses to send to each of these from a loopback address, so nothing leaves the machine.
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

    @Test("a STUN server's response becomes a server-reflexive candidate for the participant")
    func serverReflexiveCandidate() async throws {
      let mapped = TransportAddress(ip: .v4(0xC000_0263), port: 7777)
      let server = try await MappingServer.start(answering: mapped)
      let configuration = LoopbackCall.configuration(
        sending: [], iceServers: [ICEServer(url: "stun:127.0.0.1:\(server.port)")])
      let peer = try await Peer.start(configuration, on: MultiThreadedEventLoopGroup.singleton.next())
      peer.offer(to: LoopbackCall.bobID)
      let deadline = Task {
        try await Task.sleep(for: .seconds(10))
        await peer.close(reason: "The test took too long.")
      }
      var candidate: String?
      for await participantEvent in peer.events {
        guard case .signal(.candidate(let trickled)) = participantEvent.event, trickled.candidate.contains("srflx")
        else {
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

    @Test("an invalid address and a port that is in use are each reported in one sentence")
    func startErrors() async throws {
      let loop = MultiThreadedEventLoopGroup.singleton.next()
      var configuration = LoopbackCall.configuration(sending: [])
      configuration.bindAddresses = ["localhost"]
      await #expect(throws: Peer.StartError.badAddress("localhost")) {
        _ = try await Peer.start(configuration, on: loop)
      }
      let first = try await Peer.start(LoopbackCall.configuration(sending: []), on: loop)
      let port = try #require(first.localAddresses.first?.split(separator: ":").last.flatMap { UInt16($0) })
      configuration.bindAddresses = ["127.0.0.1"]
      configuration.udpPort = port
      let error = await #expect(throws: Peer.StartError.self) {
        _ = try await Peer.start(configuration, on: loop)
      }
      #expect(error?.description.hasPrefix("No UDP socket could be bound to port \(port): 127.0.0.1:") == true)
      await first.close(reason: "The test is over.")
    }
  }
}

extension [PeerEvent] {
  var videoFrames: [ByteBuffer] {
    compactMap {
      if case .media(.frame(let frame)) = $0, frame.codec == .vp8 { frame.payload } else { nil }
    }
  }
}
