import CallCheck

extension HTMLReport {
  /// Writes the section of one peer.
  func peer(_ section: ReportSection, into page: inout Markup) {
    let anchor = Self.anchor(section)
    page.newLine()
    page.element("section", ["class": "peer", "id": anchor, "aria-labelledby": anchor + "-title"]) { page in
      page.element("h2", ["id": anchor + "-title"]) { page in
        page.write(section.name.prefix(1).uppercased() + section.name.dropFirst())
        if let id = section.id { page.element("bdi", ["class": "id"], text: id) }
      }
      if let peer = section.peer {
        page.element("p", ["class": "lead"], text: ReportText.line(peer.progress, limit: 600))
        if let departure = peer.departure {
          page.element(
            "p",
            text: "At \(NumberFormatting.time(departure.time)): " + ReportText.line(departure.sentence, limit: 400))
        }
        Self.facts(overview(peer), into: &page)
      }
      guard let peer = section.peer else { return rules(of: section, into: &page) }
      // For a call that was not established, the step at which it stopped comes first.
      if peer.reached < .media { setUp(peer, into: &page) }
      rules(of: section, into: &page)
      if peer.reached >= .media { setUp(peer, into: &page) }
      timeline(peer, of: section, into: &page)
      messages(peer, into: &page)
      videoFrames(peer, into: &page)
      for stream in peer.allStreams.dropFirst() { self.stream(stream, of: peer, into: &page) }
      recordings(peer, into: &page)
      details(peer, into: &page)
    }
    page.newLine()
  }

  /// Writes what is measured of a further stream besides its lanes in the timeline.
  private func stream(_ stream: PeerReport, of peer: PeerReport, into page: inout Markup) {
    page.element("h3", text: Self.heading(peer.title(ofStream: stream.streamNumber)))
    Self.facts(overview(stream), into: &page)
    videoFrames(stream, title: nil, into: &page)
    details(stream, into: &page)
  }

  static func heading(_ title: String) -> String { title.prefix(1).uppercased() + title.dropFirst() }

  /// Returns the most important measurements.
  private func overview(_ peer: PeerReport) -> [(name: String, value: String)] {
    var facts: [(String, String)] = []
    if let codecs = peer.codecTitle { facts.append(("Codecs", codecs)) }
    if let video = peer.video {
      let size = video.sizes.last.map { "\($0.width)\u{D7}\($0.height), " } ?? ""
      facts.append(("Video", "\(size)\(NumberFormatting.digits(video.fps)) fps"))
      facts.append(("Video bitrate", NumberFormatting.bitrate(video.bitrate)))
    } else {
      facts.append(("Video", "none"))
    }
    if let skippedFrames = peer.skippedFrames { facts.append(("Not decoded", "\(skippedFrames.videoFrames) frames")) }
    if let unverified = peer.unverified { facts.append(("Unverified", unverified.words)) }
    if let audio = peer.audio {
      facts.append(
        ("Audio", "\(NumberFormatting.fixed(audio.level, 0)) dB, \(NumberFormatting.bitrate(audio.bitrate))"))
    } else {
      facts.append(("Audio", "none"))
    }
    // The same value as in the result of a rule about it.
    if let loss = peer.connection.loss { facts.append(("Loss", MeasurementUnit.ratio.text(loss))) }
    if let trip = peer.connection.roundTripTime {
      facts.append(("Round-trip time", NumberFormatting.seconds(trip.p50)))
    }
    if let skew = peer.skew { facts.append(("Skew", "\(NumberFormatting.seconds(skew.total.p50)) median")) }
    if let delay = peer.pattern?.videoDelay { facts.append(("Delay", "\(NumberFormatting.seconds(delay.p50)) median")) }
    return facts
  }

  /// Writes the setup of the call as a waterfall.
  private func setUp(_ peer: PeerReport, into page: inout Markup) {
    let steps = SetUpSteps(peer, joined: report.roomReport.joined, expected: report.expected)
    guard let last = steps.taken.last?.time, report.subject == .call else { return }
    let axis = TimeAxis(duration: last)
    let waited = NumberFormatting.seconds(max(0, report.duration - last))
    page.element("h3", text: "How the call was established")
    page.element("table", ["class": "waterfall"]) { page in
      page.element("thead") { page in
        page.element("tr") { page in
          for name in ["Step", "Since the start", "At", "Took"] { page.element("th", ["scope": "col"], text: name) }
        }
      }
      page.element("tbody") { page in
        for step in steps.taken {
          let (time, took) = (step.time ?? 0, step.took ?? 0)
          page.newLine()
          page.element("tr") { page in
            page.element("th", ["scope": "row"], text: step.name)
            page.element("td", ["class": "bar"]) { page in
              page.element("svg", ["width": "100%", "height": "14", "aria-hidden": "true"]) { page in
                let (start, end) = (axis.fraction(time - took), axis.fraction(time))
                page.empty("line", ["class": "grid", "x1": "0", "x2": "100%", "y1": "7", "y2": "7"])
                page.empty(
                  "rect",
                  [
                    "x": TimeAxis.percent(start), "y": "3", "width": TimeAxis.percent(end - start), "height": "8",
                    "rx": "2",
                  ])
                page.empty("circle", ["cx": TimeAxis.percent(0.004 + end * 0.992), "cy": "7", "r": "3.5"])
              }
            }
            page.element("td", ["class": "number"], text: "\(NumberFormatting.fixed(time, 2)) s")
            page.element("td", ["class": "number soft"], text: "+\(NumberFormatting.fixed(took * 1000, 0)) ms")
          }
        }
        for (index, step) in steps.missing.enumerated() {
          page.element("tr", ["class": index == 0 ? "missing first" : "missing"]) { page in
            page.element("th", ["scope": "row"], text: step.name)
            page.element(
              "td", ["colspan": "3"],
              text: index == 0 ? "\u{2717} never, although the check waited \(waited)" : "\u{2013}")
          }
        }
      }
    }
    candidates(peer.steps, into: &page)
  }

  private func candidates(_ steps: CallSteps, into page: inout Markup) {
    func text(_ candidates: [String: Int]?) -> String {
      let sorted = (candidates ?? [:]).sorted { $0.key < $1.key }
      let kinds = sorted.map { "\($0.value) \(ReportText.line($0.key, limit: 20))" }
      return kinds.isEmpty ? "none" : kinds.joined(separator: ", ")
    }
    if (steps.localCandidates ?? [:]).isEmpty && (steps.remoteCandidates ?? [:]).isEmpty { return }
    page.element(
      "p", ["class": "soft"],
      text: "Candidates: ours \(text(steps.localCandidates)); the peer\u{2019}s \(text(steps.remoteCandidates)).")
  }
}

/// The steps that established a call, in the order in which they happened.
struct SetUpSteps {
  struct Step {
    var name: String
    /// The time of the step, in seconds since the check's start; nil if it never happened.
    var time: Double?
    /// Seconds since the previous step.
    var took: Double?
  }

  var taken: [Step]
  /// The steps that should have followed; empty if media arrived.
  var missing: [Step]

  init(_ peer: PeerReport, joined: Double?, expected: CheckExpectation) {
    let steps = peer.steps
    let all: [(String, Double?)] = [
      ("Room joined", joined), ("Peer seen", steps.seen),
      ("Offer sent", steps.offerSent), ("Offer received", steps.offerReceived),
      ("Answer sent", steps.answerSent), ("Answer received", steps.answerReceived),
      ("Our first candidate", steps.firstLocalCandidate), ("Peer\u{2019}s first candidate", steps.firstRemoteCandidate),
      ("ICE checks started", steps.checksBegun), ("First check answered", steps.firstCheckAnswered),
      ("ICE connected", steps.iceConnected), ("DTLS connected", steps.dtlsConnected),
      ("First packet", steps.firstPacket), ("First frame", steps.firstFrame), ("First audio", steps.firstSound),
    ]
    let times = all.enumerated().compactMap { index, step in step.1.map { (index: index, time: max(0, $0)) } }
      .filter(\.time.isFinite).sorted { ($0.time, $0.index) < ($1.time, $1.index) }
    var before = 0.0
    taken = []
    for (index, time) in times {
      taken.append(Step(name: all[index].0, time: time, took: time - before))
      before = time
    }

    var missing: [String] = []
    if steps.offerSent == nil && steps.offerReceived == nil { missing.append("Offer") }
    if steps.answerSent == nil && steps.answerReceived == nil { missing.append("Answer") }
    if steps.firstRemoteCandidate == nil { missing.append("Peer\u{2019}s first candidate") }
    if steps.firstCheckAnswered == nil && steps.iceConnected == nil { missing.append("First check answered") }
    if steps.iceConnected == nil { missing.append("ICE connected") }
    if steps.dtlsConnected == nil { missing.append("DTLS connected") }
    if steps.firstPacket == nil { missing.append("First packet") }
    if expected.video && steps.firstFrame == nil { missing.append("First frame") }
    if expected.audio && steps.firstSound == nil { missing.append("First audio") }
    self.missing = taken.isEmpty ? [] : missing.map { Step(name: $0) }
  }
}
