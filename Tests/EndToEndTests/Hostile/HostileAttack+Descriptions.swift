import TestSupport

/// Session descriptions that are expensive or damaged.
extension HostileAttack {
  static let descriptions = [large, damaged]

  private static let large = HostileAttack(name: "descriptions that once took quadratic time") { target, generator in
    var generator = generator
    let attacker = try await target.newcomer()
    defer { attacker.leave() }
    for sdp in largeOnes.shuffled(using: &generator).prefix(6) {
      await attacker.send([
        try HostileDescription.offer(sdp, to: target.honest[0]),
        try HostileDescription.answer(sdp, to: target.honest[0]),
      ])
    }
    try await sleepOnEventLoop(for: .milliseconds(300))
  }

  private static let damaged = HostileAttack(name: "damaged descriptions") { target, generator in
    var generator = generator
    for _ in 0..<5 {
      let attacker = try await target.newcomer()
      defer { attacker.leave() }
      for victim in target.victims(1, using: &generator) {
        for kind in ["offer", "offer", "answer"] {
          let sdp = HostileDescription.damaged(using: &generator)
          await attacker.send([try HostileDescription.message(kind, sdp, to: victim)])
        }
      }
      try await sleepOnEventLoop(for: .milliseconds(100))
    }
  }

  private static let largeOnes: [String] = {
    let video = HostileDescription.video
    let names = (0..<2_000).map { "\($0)" }.joined(separator: " ")
    let section = "m=video 9 RTP/SAVPF 96\r\na=rtcp-mux\r\na=rtpmap:96 VP8/90000\r\n"
    return [
      video + HostileDescription.repeated("a=rid:h send max-width=1\r\n"),
      video + HostileDescription.repeated("a=candidate:1 1 udp 1 127.0.0.2 5000 typ host\r\n"),
      "v=0\r\n" + HostileDescription.repeated(section), video + "a=x:\(String(repeating: "x", count: 200_000))\r\n",
      "v=0\r\nm=video 9 RTP/SAVPF\(String(repeating: " 96", count: 2_700))\r\n",
      video + HostileDescription.repeated("a=rtcp-fb:* x\r\n"),
      video + HostileDescription.repeated("a=fmtp:96 \(String(repeating: "a;", count: 4_000))\r\n"),
      video + HostileDescription.repeated("a=ssrc:1 cname:x\r\n"),
      video + HostileDescription.repeated("a=ssrc-group:FID 1 2\r\n"),
      video + HostileDescription.repeated("a=extmap:9 urn:x\r\n"),
      HostileDescription.repeated("a=group:BUNDLE \(names)\r\n") + video,
      video + HostileDescription.repeated("a=fingerprint:sha-256 AB:CD\r\n"),
      video + HostileDescription.repeated("\r\n", to: 80_000),
    ]
  }()
}
