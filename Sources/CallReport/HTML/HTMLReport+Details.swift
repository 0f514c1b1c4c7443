import CallCheck

extension HTMLReport {
  /// Writes all other measurements, for readers who look for a cause.
  func details(_ peer: PeerReport, into page: inout Markup) {
    page.element("details", ["class": "all"]) { page in
      page.element(
        "summary",
        text: peer.streamNumber > 1
          ? "All measurements of stream \(peer.streamNumber)"
          : "All measurements of the connection, the media and the pattern")
      line(
        peer.connection, title: peer.streamNumber > 1 ? "Received packets" : "Connection, both directions", into: &page)
      Self.facts(media(peer), into: &page)
      if let pattern = peer.pattern {
        page.element("h4", text: "Test pattern in the received media")
        Self.facts(self.pattern(pattern), into: &page)
      }
      if let skew = peer.skew {
        page.element("h4", text: "Audio/video skew")
        Self.facts(self.skew(skew), into: &page)
      }
      if let data = peer.data {
        page.element("h4", text: "Our data channel to the peer")
        Self.facts(Self.data(data), into: &page)
      }
      if let returned = peer.returned {
        page.element("h4", text: "Frames returned by the peer")
        Self.facts(self.returned(returned), into: &page)
      }
    }
    page.newLine()
  }

  private func line(_ connection: ConnectionReport, title: String, into page: inout Markup) {
    typealias Row = (name: String, values: [String])
    func received(_ name: String, _ value: (ConnectionReport.Received) -> String) -> Row {
      (name, [connection.video, connection.audio].map { $0.map(value) ?? "" } + [""])
    }
    func with(_ row: Row, sent value: ((ConnectionReport.Sent) -> String)?) -> Row {
      (row.name, row.values.dropLast() + [connection.sent.flatMap { sent in value.map { $0(sent) } } ?? ""])
    }
    let rows: [Row] = [
      with(received("Packets") { NumberFormatting.count($0.received) }, sent: { NumberFormatting.count($0.packets) }),
      with(received("Bytes") { NumberFormatting.count($0.bytes) }, sent: { NumberFormatting.count($0.bytes) }),
      with(
        received("Lost before retransmission") { NumberFormatting.share($0.loss) },
        sent: { NumberFormatting.share($0.loss) }),
      with(
        received("Recovered") { NumberFormatting.count($0.recovered) }, sent: nil),
      with(
        received("Lost after retransmission") {
          "\(NumberFormatting.count($0.lost)), \(NumberFormatting.share($0.finalLoss))"
        },
        sent: nil),
      received("Duplicates") { NumberFormatting.count($0.duplicated) },
      received("Frames dropped") { NumberFormatting.count($0.framesDropped) },
      received("Jitter") { $0.jitter.map(Self.spread) ?? "" },
      with(
        received("Keyframes requested") { NumberFormatting.count($0.keyframeRequests) },
        sent: { NumberFormatting.count($0.keyframeRequests) }),
      with(("Bitrate", ["", "", ""]), sent: { $0.bitrate.map(NumberFormatting.bitrate) ?? "" }),
      with(
        ("Target bitrate", ["", "", ""]),
        sent: { $0.targetBitrate.map { NumberFormatting.bitrate(Double($0)) } ?? "" }),
    ]
    // A column without values was not measured.
    let columns = ["Video received", "Audio received", "Sent"].enumerated().filter { column in
      rows.contains { !$0.values[column.offset].isEmpty }
    }
    if columns.isEmpty { return facts(connection, into: &page) }
    page.element("h4", text: title)
    page.element("div", ["class": "scroll"]) { page in
      page.element("table", ["class": "both-ways"]) { page in
        page.element("thead") { page in
          page.element("tr") { page in
            for name in [""] + columns.map(\.element) { page.element("th", ["scope": "col"], text: name) }
          }
        }
        page.element("tbody") { page in
          for row in rows where row.values.contains(where: { !$0.isEmpty }) {
            page.element("tr") { page in
              page.element("th", ["scope": "row"], text: row.name)
              for column in columns { page.element("td", ["class": "number"], text: row.values[column.offset]) }
            }
          }
        }
      }
    }
    facts(connection, into: &page)
  }

  private func facts(_ connection: ConnectionReport, into page: inout Markup) {
    var facts: [(String, String)] = []
    if let local = connection.localAddress {
      facts.append(("Our address", Self.address(local, type: connection.localCandidateType)))
    }
    if let remote = connection.remoteAddress {
      facts.append(("Peer\u{2019}s address", Self.address(remote, type: connection.remoteCandidateType)))
    }
    if let profile = connection.protectionProfile { facts.append(("SRTP profile", profile)) }
    if let trip = connection.roundTripTime { facts.append(("Round-trip time", Self.spread(trip))) }
    if let impairment = connection.impairment, !impairment.isEmpty {
      facts.append(("Impaired when sending", Self.counts(impairment.send)))
      facts.append(("Impaired when receiving", Self.counts(impairment.receive)))
    }
    Self.facts(facts, into: &page)
  }

  private func media(_ peer: PeerReport) -> [(name: String, value: String)] {
    var facts: [(String, String)] = []
    if let video = peer.video {
      facts.append(("Frames decoded", NumberFormatting.count(UInt64(max(0, video.frames)))))
      facts.append(("Keyframes", "\(video.keyframes)"))
      facts.append(
        ("Video decode errors", "\(video.decodeErrors), and \(video.framesBeforeKeyframe) before the first keyframe"))
      if let least = video.fpsMinimum { facts.append(("Lowest frame rate", NumberFormatting.digits(least))) }
      let sizes = video.sizes.prefix(8).map { "\($0.width)\u{D7}\($0.height) from \(NumberFormatting.time($0.time))" }
      facts.append(("Sizes", sizes.joined(separator: "; ") + (video.sizes.count > 8 ? "; \u{2026}" : "")))
      if let title = video.orientationTitle { facts.append(("Orientation", title)) }
      facts.append(("Mean luma", NumberFormatting.fixed(video.brightness, 0)))
    }
    if let audio = peer.audio {
      facts.append(("Audio packets decoded", NumberFormatting.count(UInt64(max(0, audio.packets)))))
      facts.append(("Channels", "\(audio.channels)"))
      facts.append(("Loudest sample", "\(NumberFormatting.fixed(audio.peak, 1)) dB"))
      facts.append(("Concealed audio", NumberFormatting.seconds(audio.concealed)))
      facts.append(("Audio decode errors", "\(audio.decodeErrors)"))
    }
    return facts
  }

  private func pattern(_ pattern: PatternReport) -> [(name: String, value: String)] {
    var facts: [(String, String)] = [
      ("Stream id", "\(pattern.streamID)"),
      ("Frames read", "\(pattern.framesRead), \(pattern.framesUnreadable) unreadable"),
      ("Frames painted", "\(pattern.numbersPainted), \(pattern.missing) of them never seen"),
      ("Duplicates", "\(pattern.doubled)"), ("Out of order", "\(pattern.reordered)"),
      ("Audio marks", "\(pattern.marksFound) of \(pattern.marksExpected)"),
    ]
    if pattern.restarts > 0 { facts.append(("Restarted", "\(pattern.restarts) times")) }
    if let delay = pattern.videoDelay { facts.append(("Video delay", Self.spread(delay))) }
    if let delay = pattern.audioDelay { facts.append(("Audio delay", Self.spread(delay))) }
    if let quality = pattern.quality {
      let (mean, worst) = (NumberFormatting.fixed(quality.psnr, 1), NumberFormatting.fixed(quality.psnrWorst, 1))
      facts.append(("PSNR", "\(mean) dB, worst \(worst) dB"))
      facts.append(
        ("SSIM", "\(NumberFormatting.fixed(quality.ssim, 3)), worst \(NumberFormatting.fixed(quality.ssimWorst, 3))"))
    }
    return facts
  }

  private func skew(_ skew: SkewReport) -> [(name: String, value: String)] {
    var facts = [
      ("Measured by", skew.source == .pattern ? "the test pattern" : "sender reports, an estimate"),
      ("On arrival", Self.spread(skew.total)),
    ]
    for (name, value) in [
      ("From the sender", skew.sender), ("From the network", skew.network), ("From the receiver", skew.receiver),
    ] {
      if let value { facts.append((name, NumberFormatting.seconds(value))) }
    }
    return facts
  }

  private func returned(_ returned: ReturnReport) -> [(name: String, value: String)] {
    var facts = [
      ("Sent", "\(returned.sent)"), ("Returned", "\(returned.returned), \(NumberFormatting.share(returned.ratio))"),
      ("Missing", "\(returned.missing)"), ("Duplicates", "\(returned.doubled)"),
      ("Out of order", "\(returned.reordered)"),
    ]
    if let trip = returned.roundTrip { facts.append(("Return time", Self.spread(trip))) }
    return facts
  }

  private static func data(_ data: DataReport) -> [(name: String, value: String)] {
    var facts = [
      ("Opened after", data.open.map(NumberFormatting.seconds) ?? "never opened"), ("Sent", "\(data.sent)"),
      ("Returned", "\(data.returned)"), ("Lost", "\(data.lost)"), ("Out of order or twice", "\(data.disordered)"),
    ]
    if let trip = data.roundTrip { facts.append(("Round trip", Self.spread(trip))) }
    return facts
  }

  private static func spread(_ spread: Spread) -> String {
    let figures = [spread.p50, spread.p95, spread.worst].map(NumberFormatting.seconds)
    return "median \(figures[0]), 95th percentile \(figures[1]), worst \(figures[2])"
  }

  /// An address with the type of its candidate.
  private static func address(_ address: String, type: CandidateKind?) -> String {
    type.map { "\(address) (\($0.rawValue))" } ?? address
  }

  private static func counts(_ counts: [String: UInt64]) -> String {
    let parts = counts.sorted { $0.key < $1.key }.map {
      "\(ReportText.line($0.key, limit: 30)) \(NumberFormatting.count($0.value))"
    }
    return parts.isEmpty ? "nothing" : parts.joined(separator: ", ")
  }
}
