import Foundation
import TestSupport
import Testing

extension Judgement {
  /// Checks that a track's counters add up and match the sender's: every packet was received, recovered or lost.
  ///
  /// Browsers also count retransmissions and probes in `packetsSent`, including those on the SSRC for retransmissions.
  /// They do not report how many these were, but the relay sees them.
  func expectSums(of kind: String, in outcome: ImpairedCall.Outcome) async throws {
    let track = outcome.track(kind)
    let reported = outcome.report.json["sent"][kind]
    let source = try #require(outcome.source(kind), "the relay saw the browser's \(kind)")
    let others = outcome.census.sources.values.map(\.packets).reduce(0, +)
    let repeats = try kind == "video" ? others - source.packets - #require(outcome.source("audio")).packets : 0
    let sent = track["sent"].int ?? -1
    let received = track["received"].int ?? -1
    let recovered = track["recovered"].int ?? -1
    let lost = track["lost"].int ?? -1
    await scenario.note(
      """
      measured: \(name), \(kind): \(received) received + \(recovered) recovered + \(lost) lost = \(sent) sent; \
      the browser reports \(reported["packetsSent"].int ?? -1), \(repeats) of them retransmissions or probes; \
      the relay did not read \(outcome.unread)
      """)
    #expect(received + recovered + lost == sent, "the counters of \(kind) add up")
    #expect(track["packets"].int == received + recovered)
    #expect(sent == source.mediaNumbers, "as many \(kind) packets as the browser sent")
    let passed = source.packets + repeats
    #expect(
      (passed - max(2, passed / 100)...passed + max(2, passed / 100) + outcome.unread)
        .contains(reported["packetsSent"].int ?? 0),
      "the relay and the browser count the same packets, except those that the relay did not read in time")
  }

  /// Checks that the recording is as long as the sent video, by the sender's timestamps.
  func expectSentLength(of outcome: ImpairedCall.Outcome, within share: Double = 0.01) async throws {
    let sent = try #require(outcome.source("video")?.frames)
    let first = try #require(sent.first)
    let last = try #require(sent.last)
    let length = Double(last.timestamp &- first.timestamp) / 90_000
    let recorded = try #require(userRecording.webm.video.map { ($0.times.last ?? .nan) - $0.first })
    await scenario.note(
      String(
        format: "measured: %@: %.2f s of video sent, %.2f s recorded; %d frames of %d", name, length, recorded,
        userRecording.webm.video?.times.count ?? 0, sent.count))
    #expect(abs(recorded - length) <= share * length, "the recording is as long as the sent video")
  }

  /// Checks that sent frames are recorded again within 2 s of a disturbance, and until the end.
  ///
  /// A gap in the recording counts only if the sender has none there: with low bandwidth a browser skips frames. While
  /// a browser sends more than the path carries, it loses more packets, including keyframes. So the time counts from
  /// the last burst of several lost datagrams. Single lost datagrams are retransmitted.
  ///
  /// - Parameter time: the start of the disturbance, in seconds since 1970.
  func expectRecovery(from time: Double, of outcome: ImpairedCall.Outcome, within limit: Double = 2) async throws {
    let frames = try #require(outcome.source("video")?.frames)
    let first = try #require(frames.first)
    let sent = frames.map { Double($0.timestamp &- first.timestamp) / 90_000 }
    let times = try #require(userRecording.webm.video).times
    let recorded = times.map { $0 - (times.first ?? 0) }
    let zero = try #require(userRecording.manifest.date("start")) + (times.first ?? 0)
    let begun = time - zero
    let losses = outcome.census.losses.map { $0 - zero }
    let bursts = zip(losses, losses.dropFirst(2)).filter { $1 - $0 < 0.2 }.map(\.1)
    let gaps = zip(recorded, recorded.dropFirst()).filter { $1 > begun && $1 - $0 > 0.3 }
    let holes = gaps.filter { gap in sent.count { $0 > gap.0 + 0.05 && $0 < gap.1 - 0.05 } > 2 }
    let slowest =
      holes.map { hole in hole.1 - max(begun, bursts.last { $0 < hole.1 } ?? begun) }.max() ?? 0
    let flowing = holes.last.map { $0.1 - begun } ?? 0
    await scenario.note(
      String(
        format: """
          measured: %@: %d frames of %d sent; longest time without a frame %.2f s, longest gap in frames that were sent \
          %.2f s; recorded without gaps %.2f s after the start of the disturbance, and %.2f s at most after a burst of losses
          """,
        name, recorded.count, sent.count, gaps.map { $0.1 - $0.0 }.max() ?? 0, holes.map { $0.1 - $0.0 }.max() ?? 0,
        flowing, slowest))
    let sentAfter = sent.filter { time in
      time > begun + limit && !holes.contains { time > $0.0 && time < $0.1 }
    }
    #expect(sentAfter.count > 5, .onQuietMachine("the browser sends frames after the disturbance"))
    #expect(
      Double(recorded.count { $0 > begun + limit } + 1) > 0.95 * Double(sentAfter.count),
      .onQuietMachine("these frames are recorded"))
    #expect(slowest <= limit, .onQuietMachine("sent frames are recorded again in time"))
    #expect(recorded.count * 10 > sent.count * 7, .onQuietMachine("most of the sent frames are recorded"))
    let (lastSent, lastRecorded) = try (#require(sent.last), #require(recorded.last))
    #expect(lastSent - lastRecorded < 1, .onQuietMachine("frames are recorded until the end"))
  }
}
