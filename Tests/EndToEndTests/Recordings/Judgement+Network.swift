import Foundation
import TestSupport
import Testing

extension Judgement {
  /// Checks that a track's account adds up and that it is the sender's own: every packet was received, recovered or lost.
  ///
  /// Browsers count into `packetsSent` what they send again and what they send to probe the line, on the SSRC for
  /// retransmissions as well. How much of that was no media they do not tell, but the relay sees it.
  func expectSums(of kind: String, in outcome: ImpairedCall.Outcome) async throws {
    let track = outcome.track(kind)
    let reported = outcome.report.json["sent"][kind]
    let source = try #require(outcome.source(kind), "the relay has seen the browser's \(kind)")
    let others = outcome.census.sources.values.map(\.packets).reduce(0, +)
    let repeats = try kind == "video" ? others - source.packets - #require(outcome.source("audio")).packets : 0
    let sent = track["sent"].int ?? -1
    let received = track["received"].int ?? -1
    let recovered = track["recovered"].int ?? -1
    let lost = track["lost"].int ?? -1
    await scenario.note(
      """
      measured: \(name), \(kind): \(received) received + \(recovered) recovered + \(lost) lost = \(sent) sent; \
      the browser says \(reported["packetsSent"].int ?? -1), \(repeats) of them sent again or to probe the line
      """)
    #expect(received + recovered + lost == sent, "the sums of \(kind) add up")
    #expect(track["packets"].int == received + recovered)
    #expect(sent == source.mediaNumbers, "as many \(kind) packets as the browser has sent")
    let passed = source.packets + repeats
    #expect(
      abs((reported["packetsSent"].int ?? 0) - passed) <= max(2, passed / 100),
      "the relay and the browser count the same")
  }

  /// Checks that the recording is as long as what was sent, by the sender's own timestamps.
  func expectSentLength(of outcome: ImpairedCall.Outcome, within share: Double = 0.01) async throws {
    let sent = try #require(outcome.source("video")?.frames)
    let first = try #require(sent.first)
    let last = try #require(sent.last)
    let length = Double(last.timestamp &- first.timestamp) / 90_000
    let recorded = try #require(take.webm.video.map { ($0.times.last ?? .nan) - $0.first })
    await scenario.note(
      String(
        format: "measured: %@: %.2f s of video sent, %.2f s recorded; %d frames of %d", name, length, recorded,
        take.webm.video?.times.count ?? 0, sent.count))
    #expect(abs(recorded - length) <= share * length, "the recording lasts as long as what was sent")
  }

  /// Checks that what was sent is recorded again within 2 s of a disturbance and to the end.
  ///
  /// A gap in the recording counts only if the sender had none there: on a low bandwidth a browser skips frames. A browser
  /// that sends more than the path carries loses more of it, keyframes too, for as long as it does. So the time counts from when
  /// the line last lost several datagrams together. One by one they are sent again.
  ///
  /// - Parameter time: when the disturbance began, seconds since 1970.
  func expectRecovery(from time: Double, of outcome: ImpairedCall.Outcome, within limit: Double = 2) async throws {
    let frames = try #require(outcome.source("video")?.frames)
    let first = try #require(frames.first)
    let sent = frames.map { Double($0.timestamp &- first.timestamp) / 90_000 }
    let times = try #require(take.webm.video).times
    let recorded = times.map { $0 - (times.first ?? 0) }
    let zero = try #require(take.manifest.date("start")) + (times.first ?? 0)
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
          measured: %@: %d frames of %d sent; the longest time without a frame %.2f s, of which the sender had sent \
          some %.2f s; all is there again %.2f s after the beginning, and %.2f s at most after a burst of losses
          """,
        name, recorded.count, sent.count, gaps.map { $0.1 - $0.0 }.max() ?? 0, holes.map { $0.1 - $0.0 }.max() ?? 0,
        flowing, slowest))
    let sentAfter = sent.filter { time in
      time > begun + limit && !holes.contains { time > $0.0 && time < $0.1 }
    }
    #expect(sentAfter.count > 5, .onQuietMachine("the browser sends frames after the disturbance"))
    #expect(
      Double(recorded.count { $0 > begun + limit } + 1) > 0.95 * Double(sentAfter.count),
      .onQuietMachine("they are recorded"))
    #expect(slowest <= limit, .onQuietMachine("what is sent is recorded again"))
    #expect(recorded.count * 10 > sent.count * 7, .onQuietMachine("of all that is sent most is recorded"))
    let (lastSent, lastRecorded) = try (#require(sent.last), #require(recorded.last))
    #expect(lastSent - lastRecorded < 1, .onQuietMachine("and all to the end"))
  }
}
