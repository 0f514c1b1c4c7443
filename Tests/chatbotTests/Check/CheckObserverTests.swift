import BotPeer
import CallCheck
import Codecs
import FaultInjection
import InspectionTestSupport
import Logging
import Media
import NIOCore
import Signalling
import SkyRTC
import Testing

@testable import chatbot

@Suite("the observer of a checked call")
struct CheckObserverTests {
  @Test("skips frames when the queue is full, and says so in the log and in the report")
  func leavesOut() async throws {
    let screen = try Screen()
    var limits = CheckObserver.Durations(wait: .seconds(1), span: .seconds(1))
    limits.queue = LiveJudge.QueueBounds(bytes: 4_000, time: .seconds(600))
    let checkObserver = CheckObserver(limits, log: screen.console().logger("check", level: .warning)) { _ in }
    let start = ContinuousClock.now
    let peer = ParticipantID("peer-1")
    // The judge does not run yet.
    let sizes = try send(60, of: peer, to: checkObserver, from: start)
    let taken = sizes.indices.first { sizes[...$0].reduce(0, +) > limits.queue.bytes }.map { $0 + 1 } ?? 0
    #expect(taken > 0 && taken < 60)
    checkObserver.leaving(at: start + .seconds(3), because: .observerFinished)
    checkObserver.end()
    let report = await checkObserver.judge(.init(start: start, room: "100"))
    #expect(report.peers.first?.video?.frames == taken)
    #expect(report.peers.first?.skippedFrames?.videoFrames == 60 - taken)
    #expect(report.result("video.fps >= 15")?.outcome == .inconclusive)
    let log = screen.errors
    #expect(log.contains("Decoding does not keep up; frames are skipped until the next keyframe. user=peer-1"))
    #expect(log.contains("This machine could not decode everything that arrived: \(60 - taken) frames were skipped."))
    #expect(log.split(separator: "\n").count == 2)
  }

  @Test("skips nothing while there is room")
  func keeps() async throws {
    let screen = try Screen()
    let limits = CheckObserver.Durations(wait: .seconds(1), span: .seconds(1))
    let checkObserver = CheckObserver(limits, log: screen.console().logger("check", level: .warning)) { _ in }
    let start = ContinuousClock.now
    _ = try send(30, of: ParticipantID("peer-1"), to: checkObserver, from: start)
    checkObserver.leaving(at: start + .seconds(3), because: .observerFinished)
    checkObserver.end()
    let report = await checkObserver.judge(.init(start: start, room: "100"))
    #expect(report.peers.first?.video?.frames == 30)
    #expect(report.peers.first?.skippedFrames == nil)
    #expect(screen.errors == "")
  }

  @Test("counts the calls that a fault ended, but not those that we end by leaving")
  func endedCalls() throws {
    let checkObserver = CheckObserver(
      .init(wait: .seconds(1), span: .seconds(1)), log: try Screen().console().logger("check", level: .warning)
    ) { _ in }
    func end(_ name: String, _ cause: CloseReason.Cause) {
      checkObserver.received(.ended(CloseReason(cause, "It ended.")), of: ParticipantID(name), at: .now)
    }
    #expect(checkObserver.injectionCount(of: .suddenLeave) == 0)
    end("a", .closedByUs)
    end("b", .closedByParticipant)
    end("c", .closedByUs)
    checkObserver.leaving(at: .now, because: .observerFinished)
    end("d", .closedByUs)
    #expect(checkObserver.injectionCount(of: .suddenLeave) == 2)
    #expect(checkObserver.injectionCount(of: .ssrcChange) == 0)
    #expect(checkObserver.injectionCount(of: .sizeChange) == nil)
  }

  @Test("a check that ends early has failed and gives the reason, even if all rules hold")
  func cutShort() async throws {
    let endings: [(Call.EndReason, String?)] = [
      (.observerFinished, nil), (.interrupted, "The check was interrupted before it was complete."),
      (.fileEnded, "The input ended before the check was complete."),
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
      checkObserver.leaving(at: start + .seconds(3), because: .observerFinished)
    }
    #expect(report.roomReport.signallingLost == [.init(start: 1, duration: 1, restored: true, reason: "Gone.")])
    #expect(report.verdict == .held)
  }

  /// Runs a check whose only rule holds, and returns its report.
  private func report(_ happen: (CheckObserver, ContinuousClock.Instant) -> Void) async throws -> CheckReport {
    let limits = CheckObserver.Durations(wait: .seconds(1), span: .seconds(1))
    let checkObserver = CheckObserver(limits, log: try Screen().console().logger("check", level: .error)) { _ in }
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
