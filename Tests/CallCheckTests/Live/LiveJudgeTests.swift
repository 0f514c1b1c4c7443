import CallCheck
import CallCheckTestSupport
import Media
import NIOCore
import PeerEngine
import Signalling
import Synchronization
import Testing

@Suite("The judge of a live call")
struct LiveJudgeTests {
  private let start = SyntheticCall.start
  private let anna = ParticipantID("anna")

  private func instant(_ seconds: Double) -> ContinuousClock.Instant { SyntheticCall.instant(seconds) }

  /// Returns frames of the pattern, 30 a second, as a peer sends them.
  private func frames(_ count: Int, of peer: ParticipantID) throws -> [EncodedFrame] {
    let source = try NumberedVideoFrames(count: count)
    return (0..<count).map { number in
      var frame = source.frame(number, at: 1 + source.time(number))
      frame.owner = peer
      return frame
    }
  }

  private func options(_ rules: String...) throws -> CallJudge.Options {
    var options = CallJudge.Options(start: start, room: "100")
    options.rules = RuleList(try rules.map { try Rule($0) })
    return options
  }

  @Test("the report is that of a judge that gets the same events at once")
  func sameReport() async throws {
    let live = LiveJudge()
    let options = try options("video.frames >= 30", "peers >= 1")
    let judge = CallJudge(options)
    let signalled: [(SignallingEvent, Double)] = [
      (.joined(id: "me", others: [SignalledParticipant(anna, offerer: .local)]), 0),
      (.message(.offer("v=0\r\n"), from: anna), 0.1),
      (.connectionLost(reason: "Gone.", retryAfter: .seconds(1)), 0.2),
      (.joined(id: "me", others: [SignalledParticipant(anna, offerer: .local)]), 0.4),
    ]
    for (event, time) in signalled {
      live.received(event, at: instant(time))
      judge.received(event, at: instant(time))
    }
    let connected: [(PeerEvent, Double)] = [
      (.signal(.answer("v=0\r\n")), 0.5), (.reached(.checksBegun), 0.6), (.reached(.iceConnected), 0.7),
      (.stateChanged(.connected), 0.8), (.reached(.firstPacket), 0.9),
    ]
    for (event, time) in connected {
      live.received(event, of: anna, at: instant(time))
      judge.received(event, of: anna, at: instant(time))
    }
    for frame in try frames(30, of: anna) {
      live.receive(.frame(frame), of: anna, now: frame.arrival)
      judge.received(.frame(frame), of: anna, at: frame.arrival)
    }
    var statistics = PeerStatistics(participant: anna, state: .connected)
    statistics.roundTripTime = 0.05
    live.sampled(statistics, at: instant(2.5))
    judge.sampled(statistics, at: instant(2.5))
    live.leaving(at: instant(3))
    live.received(.ended(CloseReason(.closedByUs, "We left.")), of: anna, at: instant(3.1))
    live.end()
    let report = await live.judge(options)
    #expect(report == judge.report(at: instant(3)))
    #expect(report.verdict == .held)
    #expect(report.peers.first?.departure == nil)
    #expect(report.peers.first?.steps.offerReceived == 0.1)
    #expect(report.roomReport.signallingLost?.count == 1)
  }

  @Test("a participant who only receives is no peer")
  func receivers() async throws {
    let live = LiveJudge()
    let server = ParticipantID("server")
    live.received(
      .joined(id: "me", others: [SignalledParticipant(server, offerer: .local, direction: .sendOnly)]), at: start)
    live.received(.stateChanged(.connected), of: server, at: instant(0.5))
    live.received(.participantJoined(SignalledParticipant(anna, offerer: .remote)), at: instant(1))
    live.leaving(at: instant(2))
    live.end()
    let report = await live.judge(try options("peers >= 1"))
    #expect(report.peers.map(\.id) == ["anna"])
  }

  @Test("frames beyond the bounds are skipped, and their peer is named once")
  func bounds() async throws {
    var bounds = LiveJudge.QueueBounds()
    let frames = try frames(10, of: anna)
    bounds.bytes = frames[0].payload.readableBytes
    bounds.time = .seconds(600)
    let named = Mutex<[ParticipantID]>([])
    let live = LiveJudge(bounds: bounds) { peer in named.withLock { $0.append(peer) } }
    for frame in frames { live.receive(.frame(frame), of: anna, now: frame.arrival) }
    #expect(live.wantedKeyframes.isEmpty)
    live.leaving(at: instant(3))
    live.end()
    let report = await live.judge(try options("video.fps >= 1"))
    let peer = try #require(report.peers.first)
    let skipped = try #require(peer.skippedFrames).videoFrames
    #expect(skipped > 0 && (peer.video?.frames ?? 0) + skipped == 10)
    #expect(report.results.map(\.outcome) == [.inconclusive])
    #expect(named.withLock { $0 } == [anna])
  }

  @Test("the status follows the events that came before it")
  func status() async throws {
    let live = LiveJudge()
    let options = try options("peers >= 1")
    async let report = live.judge(options)
    let before = try #require(await live.status())
    #expect(before.pending == ["the room", "1 more peer"])
    live.received(.joined(id: "me", others: [SignalledParticipant(anna, offerer: .local)]), at: instant(0.1))
    let after = try #require(await live.status())
    #expect(after.pending == ["a connection to anna"])
    live.failed("The call ended.")
    live.leaving(at: instant(1))
    live.end()
    let failure = await report.failure
    #expect(failure == "The call ended.")
  }

  @Test("after the end nothing is stored, and whoever asks for the status gets none")
  func ended() async throws {
    let live = LiveJudge()
    let options = try options("peers >= 1")
    live.leaving(at: instant(1))
    live.end()
    let report = await live.judge(options)
    live.received(.joined(id: "me", others: []), at: instant(2))
    #expect(report.verdict != .held)
    let status = await live.status()
    #expect(status == nil)
  }

  @Test("a judge whose task is cancelled answers those who wait")
  func cancelled() async throws {
    let live = LiveJudge()
    let options = try options("peers >= 1")
    let judging = Task { await live.judge(options) }
    judging.cancel()
    _ = await judging.value
    let status = await live.status()
    #expect(status == nil)
  }
}
