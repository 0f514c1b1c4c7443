import Media
import NIOCore
import NetworkEmulation
import PeerEngine
import RTP
import TestSupport
import Testing

@Suite("Reports and clocks, between two sessions")
struct ReportTests {
  @Test("the first sender report of each track is sent with its first packet, and then one a second")
  func senderReports() throws {
    var call = SessionCall()
    call.run(for: .seconds(10))
    for ssrc in [Negotiated.aliceAudio, Negotiated.aliceVideo] {
      let times = call.alice.rtcp.compactMap { sent -> MonotonicInstant? in
        if case .senderReport(let report) = sent.packet, report.ssrc == ssrc { sent.time } else { nil }
      }
      #expect(try #require(times.first) - call.start < .milliseconds(5))
      #expect((9...14).contains(times.count))
      for (earlier, later) in zip(times.dropFirst(), times.dropFirst(2)) {
        #expect((.milliseconds(790)...(.milliseconds(1_210))).contains(later - earlier))
      }
    }
  }

  @Test("sender reports put both tracks on one clock")
  func oneClock() throws {
    var call = SessionCall(toBob: .init(delay: .milliseconds(40), jitter: .milliseconds(10)))
    call.run(for: .seconds(5))
    call.settle(for: .seconds(1))
    let firstAudio = try #require(call.bob.frames(.opus).first)
    let firstVideo = try #require(call.bob.frames(.vp8).first)
    let clocks = call.bob.clocks
    #expect(clocks.count { $0.codec == .opus } >= 5)
    #expect(clocks.count { $0.codec == .vp8 } >= 5)
    // Both first frames have media time 0, so all sender reports must give the same wall clock time for them.
    func wallClock(of frame: EncodedFrame, by clock: ClockReport) -> Double {
      NTPTime(value: clock.ntp).secondsSince1970 - clock.time.duration(since: frame.time) / .seconds(1)
    }
    let times =
      clocks.filter { $0.codec == .opus }.map { wallClock(of: firstAudio, by: $0) }
      + clocks.filter { $0.codec == .vp8 }.map { wallClock(of: firstVideo, by: $0) }
    for time in times { #expect(abs(time - 1_700_000_000) < 0.001) }
  }

  @Test("a sender report that arrives before the first packet is kept for it")
  func earlyReport() throws {
    var session = MediaSession(owner: ParticipantID("alice"), cname: "bob", seed: 1)
    let now = MonotonicInstant.now
    session.configure(Negotiated().bob, now: now)
    session.transportBecameReady(now: now)
    var report = ByteBuffer()
    RTCPPacket.write(
      [
        .senderReport(
          SenderReport(
            ssrc: 77, ntpTime: NTPTime(seconds: 5, fraction: 0), rtpTimestamp: 9_600, packetCount: 0, octetCount: 0))
      ], into: &report)
    session.receivedRTCP(report, now: now)
    var packet = ByteBuffer()
    RTPPacket(
      payloadType: 111, sequenceNumber: 1, timestamp: 4_800, ssrc: 77, payload: ByteBuffer(bytes: [0xFC, 1, 2])
    )
    .write(into: &packet)
    session.receivedRTP(packet, now: now + .milliseconds(1))
    let events = session.poll(now: now + .seconds(1), wallClock: NTPTime(value: 0)).mediaEvents.compactMap { event in
      if case .clock(let clock) = event { clock } else { nil }
    }
    #expect(events.map(\.time.ticks) == [9_600])
    #expect(events.map(\.arrived) == [now])
  }

  @Test("of a hundred sender reports in a datagram one is reported, and of a continuing flood one every 50 ms")
  func floodOfReports() throws {
    var session = MediaSession(owner: ParticipantID("alice"), cname: "bob", seed: 1)
    let start = MonotonicInstant.now
    session.configure(Negotiated().bob, now: start)
    session.transportBecameReady(now: start)
    var clocks = 0
    for step in 0..<100 {
      let now = start + .milliseconds(10 * step)
      var packet = ByteBuffer()
      RTPPacket(
        payloadType: 111, sequenceNumber: UInt16(step), timestamp: UInt32(step * 480), ssrc: 77,
        payload: ByteBuffer(bytes: [0xFC, 1, 2])
      )
      .write(into: &packet)
      session.receivedRTP(packet, now: now)
      var reports = ByteBuffer()
      RTCPPacket.write(
        (0..<100).map { index in
          .senderReport(
            SenderReport(
              ssrc: 77, ntpTime: NTPTime(seconds: UInt32(5 + step), fraction: UInt32(index)),
              rtpTimestamp: UInt32(step * 480), packetCount: 0, octetCount: 0))
        }, into: &reports)
      session.receivedRTCP(reports, now: now)
      clocks += session.poll(now: now, wallClock: NTPTime(value: 0)).mediaEvents.count { event in
        if case .clock = event { true } else { false }
      }
    }
    #expect((5...21).contains(clocks))
  }

  @Test("receiver reports contain the share of lost packets")
  func loss() throws {
    var media = Negotiated()
    media.nack = false
    var call = SessionCall(seed: 5, toBob: .init(loss: 0.1, delay: .milliseconds(10)), media: media)
    call.run(for: .seconds(30))
    let blocks = call.bob.rtcp.compactMap { sent -> ReportBlock? in
      guard case .receiverReport(let report) = sent.packet else { return nil }
      return report.reports.first { $0.ssrc == Negotiated.aliceVideo }
    }
    let last = try #require(blocks.last)
    let counts = try #require(call.bob.session.receiveStatistics[.video])
    #expect(abs(Double(last.cumulativeLost) - Double(counts.packetsLost)) < 40)
    let mean = blocks.map { Double($0.fractionLost) / 256 }.reduce(0, +) / Double(blocks.count)
    #expect(abs(mean - 0.1) < 0.02)
    #expect(abs(call.alice.session.sendStatistics.fractionLost - 0.1) < 0.1)
    #expect(call.alice.session.sendStatistics.receptionReports > 0)
  }

  @Test("both sides measure the round-trip time: by report blocks, or by RRTR and DLRR if only one side sends")
  func roundTrip() throws {
    var call = SessionCall(toBob: .init(delay: .milliseconds(30)), toAlice: .init(delay: .milliseconds(50)))
    #expect(call.alice.session.roundTripTime == nil)
    call.run(for: .seconds(5))
    #expect(abs(try #require(call.alice.session.roundTripTime) - 0.08) < 0.002)
    #expect(abs(try #require(call.bob.session.roundTripTime) - 0.08) < 0.002)
  }

  @Test("a round-trip time measured by ICE is used until RTCP has its own")
  func roundTripFromElsewhere() throws {
    var call = SessionCall(toBob: .init(delay: .milliseconds(30)))
    call.bob.session.roundTripMeasured(.milliseconds(200))
    #expect(call.bob.session.roundTripTime == 0.2)
    call.run(for: .seconds(20))
    #expect(abs(try #require(call.bob.session.roundTripTime) - 0.06) < 0.02)
    let before = call.bob.session.roundTripTime
    call.bob.session.roundTripMeasured(.milliseconds(200))
    #expect(call.bob.session.roundTripTime == before)
  }

  @Test("each compound packet begins with a report and contains our CNAME")
  func compounds() throws {
    var call = SessionCall()
    call.run(for: .seconds(3))
    let names = call.bob.rtcp.compactMap { sent -> String? in
      guard case .sourceDescription(let description) = sent.packet else { return nil }
      return description.chunks.first?.cname
    }
    #expect(!names.isEmpty && names.allSatisfy { $0 == "bob" })
    let reports = call.alice.rtcp.compactMap { sent -> UInt32? in
      guard case .sourceDescription(let description) = sent.packet else { return nil }
      return description.chunks.first?.ssrc
    }
    #expect(Set(reports) == [Negotiated.aliceAudio, Negotiated.aliceVideo])
  }

  @Test("without transport-wide feedback, a REMB limit is sent once a second, and it falls with loss")
  func maximumBitrate() throws {
    var media = Negotiated()
    media.transportWide = false
    media.maximumBitrateEstimate = true
    var call = SessionCall(seed: 2, media: media)
    call.run(for: .seconds(5))
    func limits(_ call: SessionCall) -> [UInt64] {
      call.bob.rtcp.compactMap { sent in
        guard case .receiverEstimatedMaximumBitrate(let estimate) = sent.packet else { return nil }
        #expect(estimate.sources == [Negotiated.aliceAudio, Negotiated.aliceVideo])
        return estimate.bitrate
      }
    }
    #expect((5...6).contains(limits(call).count))
    #expect(limits(call).allSatisfy { abs(Double($0) - 5_000_000) < 5_000_000 / 100_000 })
    #expect(call.alice.session.sendStatistics.maximumBitrate == limits(call).last)
    call.toBob.conditions.loss = 0.3
    call.run(for: .seconds(5))
    #expect(try #require(limits(call).last) < 1_500_000)
    call.toBob.conditions.loss = 0
    call.run(for: .seconds(15))
    #expect(try #require(limits(call).last) > 4_900_000)
  }

  @Test("statistics are reported once a second and at the end")
  func statistics() throws {
    var call = SessionCall()
    call.run(for: .milliseconds(5_500))
    func counts(_ side: SessionCall.Side) -> [TrackStatistics] {
      side.events.compactMap { event in
        if case .statistics(let track, let statistics) = event, track.kind == .video { statistics } else { nil }
      }
    }
    #expect(counts(call.bob).count == 5)
    let last = try #require(counts(call.bob).last)
    #expect(abs(last.bitrate - 840_000) < 150_000)
    for output in call.bob.session.close(now: call.now) { call.takeFromBob(output) }
    #expect(counts(call.bob).count == 6)
    #expect(counts(call.bob).last == call.bob.session.receiveStatistics[.video])
  }

  @Test("closing a session sends a goodbye and nothing after it")
  func goodbye() throws {
    var call = SessionCall()
    call.run(for: .seconds(1))
    for output in call.alice.session.close(now: call.now) { call.takeFromAlice(output) }
    guard case .goodbye(let goodbye)? = call.alice.rtcp.last?.packet else {
      Issue.record("No goodbye was sent.")
      return
    }
    #expect(goodbye.sources == [Negotiated.aliceAudio, Negotiated.aliceVideo])
    #expect(call.alice.session.deadline == nil)
    let sent = call.alice.rtp.count
    call.run(for: .seconds(1))
    #expect(call.alice.rtp.count == sent)
  }
}
