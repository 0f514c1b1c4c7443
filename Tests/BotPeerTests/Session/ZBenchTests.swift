import Media
import NIOCore
import RTP
import TestSupport
import Testing

@testable import BotPeer

@Test func zbench() throws {
  for media in [Negotiated()] {
    var call = SessionCall(media: media)
    call.source?.keyframeEvery = 300
    var datagrams: [(ContinuousClock.Instant, ByteBuffer)] = []
    call.run(for: .seconds(60))
    for (t, p) in call.alice.rtp { var b = ByteBuffer(); p.write(into: &b); datagrams.append((t, b)) }
    let clock = ContinuousClock()
    var total = 0
    let start = clock.now
    for round in 0..<10 {
      var session = MediaSession(owner: ParticipantID("a"), cname: "b", seed: UInt64(round))
      session.configure(media.bob, now: call.start)
      session.transportBecameReady(now: call.start)
      for (t, b) in datagrams {
        session.receivedRTP(b, now: t)
        total += session.poll(now: t, wallClock: NTPTime(value: 0)).count
        if session.deadline == nil { total += 1 }
      }
    }
    let took = clock.now - start
    print(
      "BENCH receive", datagrams.count, "packets x10;", took / .nanoseconds(1) / Double(datagrams.count * 10),
      "ns a packet", total)
    let s2 = clock.now
    for round in 0..<10 {
      var session = MediaSession(owner: ParticipantID("a"), cname: "b", seed: UInt64(round))
      session.configure(media.alice, now: call.start)
      session.transportBecameReady(now: call.start)
      var n = 0
      for frame in call.played {
        session.send(frame, now: frame.arrival)
        var now = frame.arrival
        for _ in 0..<40 {
          n += session.poll(now: now, wallClock: NTPTime(value: 0)).count;
          guard let d = session.deadline, d < frame.arrival + .milliseconds(10) else { break }; now = max(d, now)
        }
      }
      total += n
    }
    print("BENCH send", (clock.now - s2) / .nanoseconds(1) / Double(datagrams.count * 10), "ns a packet", total)
  }
}
