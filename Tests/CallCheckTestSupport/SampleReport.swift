import CallReport

@testable package import CallCheck

/// Realistic reports that are the same in every run.
package enum SampleReport {
  /// A good call with a peer that plays the pattern.
  package static var held: CheckReport {
    var peer = SamplePeer(id: "4d0f1c9e-7a41-4a5e-9d53-1d0c6f1b7a10", length: 20).report
    peer.recordings = ["out/4d0f1c9e.webm", "out/4d0f1c9e.ogg"]
    return report(
      peers: [peer], summary: "All 9 rules held.",
      results: results(of: peer, fps: 24.9, freeze: 0.12, skew: 0.011, latency: 0.143, loss: 0.004))
  }

  /// A call with two peers: the video of one freezes for two seconds after a loss, and its audio is 300 ms late.
  package static var failed: CheckReport {
    let good = SamplePeer(id: "4d0f1c9e-7a41-4a5e-9d53-1d0c6f1b7a10", length: 20).report
    var bad = SamplePeer(
      id: "b9a7c2d4-15e6-4c0b-8f3a-77d2e9c01f55", length: 20, freeze: (8.12, 2.03, .lost), skew: 0.302,
      lossAtFreeze: 0.34
    ).report
    bad.recordings = ["out/b9a7c2d4.webm"]
    var report = report(
      peers: [good, bad], summary: "2 of 17 rules failed, both for 1 of 2 peers.",
      results: [
        results(of: good, fps: 24.9, freeze: 0.12, skew: 0.011, latency: 0.143, loss: 0.004),
        results(of: bad, fps: 22.6, freeze: 2.03, skew: 0.302, latency: 0.151, loss: 0.021),
      ].joined().sorted { ($0.peer == nil ? 0 : 1) < ($1.peer == nil ? 0 : 1) })
    report.comparison = comparison(of: bad.id)
    report.impairment = [.init(start: 7, end: 12, direction: "receive", text: "loss=20%,burst=5")]
    return report
  }

  /// The good call, in which the peer sends a screen as well. Its second stream freezes, and a rule about it fails.
  package static var screen: CheckReport {
    var screen = SamplePeer(id: "", length: 20, freeze: (12.2, 3.1, .senderPaused)).report
    screen.timeline.sentBitrate = screen.timeline.sentBitrate.map { _ in nil }
    screen.timeline.targetBitrate = screen.timeline.sentBitrate
    var report = held
    report.peers[0].codecs = TrackCodecs(
      audio: [TrackCodec(time: 1, codec: "opus")],
      video: [TrackCodec(time: 1, codec: "vp8"), TrackCodec(time: 9, codec: "h264", profile: "avc1.42e01f")])
    report.peers[0].streams = [
      StreamReport(
        number: 2, id: "9f2b", content: "slides", firstFrame: 1.5, firstSound: nil,
        received: .init(audio: nil, video: screen.connection.video),
        codecs: TrackCodecs(video: [TrackCodec(time: 1.5, codec: "vp9")]), video: screen.video, audio: nil,
        undecoded: ["audio"], undecodedReason: nil, skew: nil, pattern: screen.pattern, returned: nil,
        timeline: screen.timeline,
        skippedFrames: nil, unverified: nil, thumbnails: screen.thumbnails)
    ]
    report.results.append(
      RuleResult(
        rule: "2.video.freeze.longest <= 1s", measurement: "video.freeze.longest", peer: report.peers[0].id, stream: 2,
        outcome: .failed, value: 3.1, limit: 1, unit: "s", figure: "3.10 s",
        sentence: "Longest freeze of stream 2: 3.10 s at 12.2 s; the rule requires at most 1.00 s."))
    report.rules.append(.init(rule: "2.video.freeze.longest <= 1s", reason: nil))
    report.verdict = .failed
    return report
  }

  /// A call that was never established: the peer offered only mDNS names.
  package static var neverEstablished: CheckReport {
    var steps = CallSteps()
    steps.seen = 0.412
    steps.offerSent = 0.42
    steps.answerReceived = 0.731
    steps.firstLocalCandidate = 0.421
    steps.firstRemoteCandidate = 0.74
    steps.checksBegun = 0.742
    steps.localCandidates = ["host": 2, "srflx": 1]
    steps.remoteCandidates = ["mdns": 2]
    var peer = SamplePeer.empty(id: "0d4a6a66-2b1c-4df1-9d0a-1a2b3c4d5e6f")
    peer.reached = .answered
    peer.progress =
      "Answer received, no ICE check answered; the peer offered only mDNS names (.local), which only its own network can resolve."
    peer.steps = steps
    let rules = ["video.firstFrame <= 5s", "video.fps >= 15", "audio.silence.longest <= 2s", "loss <= 5%"]
    var report = report(
      peers: [peer], summary: peer.progress,
      results: [
        RuleResult(
          rule: "peers >= 1", measurement: "peers", peer: nil, outcome: .failed, value: 0, limit: 1, unit: "",
          figure: "0",
          sentence: "Simultaneous peers: 0 of 1 seen; the rule requires at least 1.")
      ]
        + rules.map { rule in
          RuleResult(
            rule: rule, measurement: String(rule.prefix { $0 != " " }), peer: peer.id, outcome: .notMeasured,
            value: nil,
            limit: 1, unit: "", figure: nil, sentence: "It could not be measured: no media packet arrived.")
        })
    report.duration = 30
    report.mediaFrom = nil
    report.verdict = .failed
    report.diagnosis = peer.progress
    report.roomReport = .init(joined: 0.31, peersSeen: 1, peersAtOnce: 0)
    return report
  }

  /// A report with malicious names and sentences.
  package static var hostile: CheckReport {
    var peer = SamplePeer(id: evil, length: 4).report
    peer.progress = evil
    peer.recordings = ["javascript:alert(1)//\"><script>alert(2)</script>.webm", "//evil.example/x.webm"]
    peer.connection.remoteAddress = evil
    peer.departure = .init(time: 3, cause: .left, sentence: evil)
    peer.steps.remoteCandidates = [evil: 1]
    peer.video?.freezes.list = [Interval(start: 1, duration: 0.5, reason: evil)]
    peer.video?.freezes.count = 1
    var report = report(
      peers: [peer], summary: evil,
      results: [
        RuleResult(
          rule: evil, measurement: "video.freeze.longest", peer: evil, outcome: .failed, value: .number(.infinity),
          limit: .number(.nan),
          unit: evil, figure: evil, sentence: evil),
        RuleResult(
          rule: evil, measurement: evil, peer: "unknown \(evil)", outcome: .notMeasured, value: nil, limit: 1, unit: "",
          figure: nil, sentence: evil),
      ])
    report.room = evil
    report.start = evil
    report.diagnosis = evil
    report.writer = evil
    report.verdict = .failed
    report.impairment = [.init(start: 0, direction: evil, text: evil), .init(start: .nan, text: evil)]
    report.comparison = comparison(of: evil)
    report.comparison?.summary = evil
    report.comparison?.remarks = [evil]
    return report
  }

  /// 4 KiB of text that breaks markup, terminals and parsers.
  package static let evil: String = {
    let parts =
      "\"><script>alert(1)</script>&amp;]]><!-- --><img src=x onerror='a()'>\u{0}\u{1}\u{8}\u{1B}[31m\r\n\t\u{7F}\u{9B}2J"
      + "\u{202E}\u{2066}\u{FFFE}\u{FFFF}\u{1F9D1}\u{200D}\u{1F4BB}\u{10FFFF}e\u{301}\u{301}\u{2028}https://evil.example/?a=b&c"
    let bytes = String(repeating: parts, count: 30).utf8.prefix(4096)
    return String(decoding: bytes, as: UTF8.self)
  }()

  package static func report(peers: [PeerReport], summary: String, results: [RuleResult]) -> CheckReport {
    let failed = results.contains { !$0.holds }
    return CheckReport(
      start: "2026-11-21T19:20:00.123Z", subject: .call, room: "100",
      expected: CheckExpectation(peers: peers.count, pattern: .played),
      duration: peers.map { $0.timeline.length }.max() ?? 0,
      mediaFrom: 1.13, verdict: failed ? .failed : .held, summary: summary, diagnosis: nil, rulesAreDefault: false,
      rules: results.map { .init(rule: $0.rule, reason: nil) }, results: results,
      roomReport: .init(joined: 0.31, peersSeen: peers.count, peersAtOnce: peers.count), peers: peers, comparison: nil)
  }

  /// Returns the results of a judge for the rules of a usual call.
  package static func results(
    of peer: PeerReport, fps: Double, freeze: Double, skew: Double, latency: Double, loss: Double
  ) -> [RuleResult] {
    func result(
      _ rule: String, _ value: Double, _ limit: Double, _ unit: String, _ figure: String, atMost: Bool = true,
      _ sentence: String
    ) -> RuleResult {
      RuleResult(
        rule: rule, measurement: String(rule.prefix { $0 != " " }), peer: peer.id,
        outcome: (atMost ? value <= limit : value >= limit) ? .held : .failed, value: .number(value),
        limit: .number(limit), unit: unit,
        figure: figure, sentence: sentence)
    }
    let worst = peer.video?.freezes.worst
    let reason = worst?.reason.flatMap { FreezeReason(rawValue: $0)?.clause } ?? ""
    return [
      RuleResult(
        rule: "peers == 2", measurement: "peers", peer: nil, outcome: .held, value: 2, limit: 2, unit: "", figure: "2",
        sentence: "Simultaneous peers: 2 of 2 seen; the rule requires exactly 2.")
    ].filter { _ in skew < 0.1 } + [
      result(
        "video.firstFrame <= 2s", 1.02, 2, "s", "1.02 s", "The first frame was decoded 1.02 s after the peer was seen."),
      result("video.fps >= 20", fps, 20, "fps", "\(fps) fps", atMost: false, "\(fps) frames per second arrived."),
      result(
        "video.freeze.longest <= 500ms", freeze, 0.5, "s", MeasurementUnit.time.text(freeze),
        "Longest freeze: \(MeasurementUnit.time.text(freeze)) at \(worst?.start ?? 0) s, because \(reason)."),
      result("video.black.longest <= 1s", 0, 1, "s", "0 s", "There was no black interval."),
      result("audio.silence.longest <= 1s", 0.4, 1, "s", "400 ms", "Longest silence: 400 ms at 14.2 s."),
      result(
        "av.skew.p95 <= 80ms", skew, 0.08, "s", MeasurementUnit.time.text(skew),
        skew < 0.1
          ? "Audio and video were at most 11 ms apart."
          : "The audio is 302 ms late. 290 ms of that existed when the sender stamped its packets: check the app's capture."
      ),
      result(
        "latency.p95 <= 250ms", latency, 0.25, "s", MeasurementUnit.time.text(latency),
        "The 95th percentile of the delay."),
      result(
        "loss <= 5%", loss, 0.05, "", MeasurementUnit.ratio.text(loss),
        "\(MeasurementUnit.ratio.text(loss)) of the packets of both tracks did not arrive at the first attempt."),
    ]
  }

  package static func comparison(of peer: String) -> CheckComparison {
    CheckComparison(
      baselineStart: "2026-11-20T02:00:00.000Z",
      summary: "Compared with the baseline, 2 rules newly fail, 3 measurements got worse, 1 measurement got better.",
      worse: [
        .init(
          measurement: "video.freeze.longest", peer: peer, before: 0.12, now: 2.03, unit: "s",
          sentence: "Longest freeze: 120 ms before, 2.03 s now."),
        .init(
          measurement: "av.skew.p95", peer: peer, before: 0.012, now: 0.302, unit: "s",
          sentence: "Audio/video skew (p95): 12 ms before, 302 ms now."),
        .init(
          measurement: "loss", peer: peer, before: 0.003, now: 0.021, unit: "",
          sentence: "Loss: 0.3 % before, 2.1 % now."),
      ],
      better: [
        .init(
          measurement: "video.firstFrame", peer: peer, before: 1.7, now: 1.02, unit: "s",
          sentence: "Time to the first frame: 1.70 s before, 1.02 s now.")
      ],
      newFailures: [
        .init(rule: "video.freeze.longest <= 500ms", peer: peer), .init(rule: "av.skew.p95 <= 80ms", peer: peer),
      ],
      resolvedFailures: [],
      remarks: ["The baseline lasted 60 s, this check 20 s: totals and counts are not comparable."])
  }
}
