import BotPeer
import Call
import CallCheck
import Codecs
import InspectionTestSupport
import Logging
import Media
import NIOCore
import NIOPosix
import Signalling
import Testing

@Suite("the observer of a checked call")
struct CheckObserverTests {
  private static let loop = MultiThreadedEventLoopGroup.singleton.any()

  @Test("skips frames when the queue is full, and says so in the log and in the report")
  func leavesOut() async throws {
    let log = LogRecorder()
    var limits = CheckObserver.Durations(wait: .seconds(1), span: .seconds(1))
    limits.queue = LiveJudge.QueueBounds(bytes: 4_000, time: .seconds(600))
    let checkObserver = CheckObserver(limits, on: Self.loop, log: log.logger)
    let start = ContinuousClock.now
    let peer = ParticipantID("peer-1")
    // The judge does not run yet.
    let sizes = try send(60, of: peer, to: checkObserver, from: start)
    let taken = sizes.indices.first { sizes[...$0].reduce(0, +) > limits.queue.bytes }.map { $0 + 1 } ?? 0
    #expect(taken > 0 && taken < 60)
    checkObserver.leaving(at: start + .seconds(3), because: .observerFinished("it is over"))
    checkObserver.end()
    let report = await checkObserver.judge(.init(start: start, room: "100"))
    #expect(report.peers.first?.video?.frames == taken)
    #expect(report.peers.first?.skippedFrames?.videoFrames == 60 - taken)
    #expect(report.result("video.fps >= 15")?.outcome == .inconclusive)
    // What the report says is no line of the log as well.
    #expect(log.lines == ["Decoding does not keep up; frames are skipped until the next keyframe. user=peer-1"])
    let sentence = "This machine could not decode everything that arrived: \(60 - taken) frames were skipped."
    #expect(report.limitations.contains(sentence))
  }

  @Test("skips nothing while there is room")
  func keeps() async throws {
    let log = LogRecorder()
    let limits = CheckObserver.Durations(wait: .seconds(1), span: .seconds(1))
    let checkObserver = CheckObserver(limits, on: Self.loop, log: log.logger)
    let start = ContinuousClock.now
    _ = try send(30, of: ParticipantID("peer-1"), to: checkObserver, from: start)
    checkObserver.leaving(at: start + .seconds(3), because: .observerFinished("it is over"))
    checkObserver.end()
    let report = await checkObserver.judge(.init(start: start, room: "100"))
    #expect(report.peers.first?.video?.frames == 30)
    #expect(report.peers.first?.skippedFrames == nil)
    #expect(log.lines.isEmpty)
  }

  @Test("counts the calls that a fault ended, but not those that we end by leaving")
  func endedCalls() {
    let checkObserver = CheckObserver(
      .init(wait: .seconds(1), span: .seconds(1)), on: Self.loop, log: LogRecorder().logger)
    func end(_ name: String, _ cause: CloseReason.Cause) {
      checkObserver.received(.ended(CloseReason(cause, "It ended.")), of: ParticipantID(name), at: .now)
    }
    #expect(checkObserver.endedCallCount == 0)
    end("a", .closedByUs)
    end("b", .closedByParticipant)
    end("c", .closedByUs)
    checkObserver.leaving(at: .now, because: .observerFinished("it is over"))
    end("d", .closedByUs)
    #expect(checkObserver.endedCallCount == 2)
    #expect(checkObserver.injectionCount == 0)
  }

  @Test("a check that ends early has failed and gives the reason, even if all rules hold")
  func cutShort() async throws {
    let endings: [(RoomCall.EndReason, String?)] = [
      (.observerFinished("it is over"), nil),
      (.left("a signal arrived"), "The check was interrupted before it was complete."),
      (.sourceEnded, "The input ended before the check was complete."),
      (.signallingEnded, "The call ended before the check was complete."),
      (.timeIsUp, "The call ended before the check was complete."),
    ]
    for (ending, sentence) in endings {
      let report = try await report { checkObserver, start in
        checkObserver.leaving(at: start + .seconds(3), because: ending)
      }
      #expect(report.failure == sentence)
      #expect(report.verdict == (sentence == nil ? .held : .failed))
    }
  }

  @Test("reports when the connection to the server was lost and restored")
  func serverLost() async throws {
    let report = try await report { checkObserver, start in
      checkObserver.received(.connectionLost(reason: "Gone.", retryAfter: .seconds(1)), at: start + .seconds(1))
      checkObserver.received(.joined(id: "me", others: []), at: start + .seconds(2))
      checkObserver.leaving(at: start + .seconds(3), because: .observerFinished("it is over"))
    }
    #expect(report.roomReport.signallingLost == [.init(start: 1, duration: 1, restored: true, reason: "Gone.")])
    #expect(report.verdict == .held)
  }

  /// Runs a check whose only rule holds, and returns its report.
  private func report(_ happen: (CheckObserver, ContinuousClock.Instant) -> Void) async throws -> CheckReport {
    let limits = CheckObserver.Durations(wait: .seconds(1), span: .seconds(1))
    let checkObserver = CheckObserver(limits, on: Self.loop, log: LogRecorder().logger)
    let start = ContinuousClock.now
    checkObserver.received(.joined(id: "me", others: [SignalledParticipant("peer-1", offerer: .local)]), at: start)
    _ = try send(30, of: ParticipantID("peer-1"), to: checkObserver, from: start)
    happen(checkObserver, start)
    checkObserver.end()
    var options = CallJudge.Options(start: start, room: "100")
    options.rules = RuleList([try Rule("video.frames >= 30")])
    return await checkObserver.judge(options)
  }

  /// Passes frames to the observer, 30 a second, of which only the first is a keyframe.
  ///
  /// - Returns: Their sizes in bytes.
  private func send(
    _ count: Int, of peer: ParticipantID, to checkObserver: CheckObserver, from start: ContinuousClock.Instant
  ) throws -> [Int] {
    let size = VideoSize(width: 64, height: 64)
    let encoder = try VP8Encoder(.init(size: size))
    return try (0..<count).compactMap { number in
      var videoFrame = VideoFrame(size: size)
      videoFrame.luma = (0..<size.width * size.height).map { UInt8(truncatingIfNeeded: $0 &* (number + 3) / 5) }
      guard let output = try encoder.encode(videoFrame, time: Int64(number) * 3_000) else { return nil }
      let arrival = start + .milliseconds(number * 33)
      let frame = EncodedFrame(
        owner: peer, codec: .vp8, time: MediaTime(ticks: Int64(number) * 3_000, rate: 90_000), payload: output.payload,
        isKeyframe: output.isKeyframe, arrival: arrival)
      checkObserver.receive(.frame(frame), of: peer, now: arrival)
      return output.payload.readableBytes
    }
  }
}
