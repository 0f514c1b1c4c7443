import CallCheck

/// When in the call a rule failed, and what else happened at that time.
struct Finding {
  /// The intervals in which the rule failed, in order; empty if the failure is not tied to a time.
  var positions: [Interval]
  /// What else happened during the longest interval, one clause each.
  var concurrentEvents: [String]

  /// The longest interval.
  var worst: Interval? { positions.max { ($0.duration, $1.start) < ($1.duration, $0.start) } }

  /// The maximum number of intervals shown.
  static let limit = 60

  init(of result: RuleResult, peer: PeerReport, impairment: [CheckReport.ImpairmentNote]) {
    positions = result.outcome == .failed ? Array(Self.positions(of: result, peer).prefix(Self.limit)) : []
    concurrentEvents = []
    guard let worst else { return }
    let window = (start: worst.start, end: worst.start + worst.duration)
    // An interval that covers most of the call is not explained by single events.
    if worst.duration < peer.timeline.length / 2 { concurrentEvents = Self.concurrentEvents(result, peer, worst) }
    for note in impairment.prefix(TimelineBands.limit) where note.text != "none" {
      guard note.start < window.end, (note.end ?? .infinity) > window.start else { continue }
      let direction = note.direction.map { ReportText.line($0, limit: 20) + ": " } ?? ""
      concurrentEvents.append("this check impaired the network on purpose (\(direction)\(ReportText.line(note.text)))")
      break
    }
  }

  private static func positions(of result: RuleResult, _ peer: PeerReport) -> [Interval] {
    func belongs(_ family: String) -> Bool {
      result.measurement == family || result.measurement.hasPrefix(family + ".")
    }
    let timeline = peer.timeline
    func steps(_ values: [Double?], where isBad: (Double) -> Bool) -> [Interval] {
      LaneSeries(step: timeline.step, values: values).intervals(where: isBad)
    }
    let limit = result.limit.number ?? .nan
    if belongs("video.freeze") { return peer.video?.freezes.list ?? [] }
    if belongs("video.black") { return peer.video?.black.list ?? [] }
    if belongs("video.frozen") { return peer.video?.frozen.list ?? [] }
    if belongs("audio.silence") { return peer.audio?.silence.list ?? [] }
    if belongs("audio.clipped") { return peer.audio?.clipped.list ?? [] }
    if belongs("audio.gap") { return peer.audio?.gaps.list ?? [] }
    if belongs("video.fps") { return steps(timeline.fps) { $0 < limit } }
    if belongs("loss") || belongs("video.loss") || belongs("audio.loss") { return steps(timeline.loss) { $0 > limit } }
    if belongs("av.skew") { return steps(timeline.skew) { abs($0) > limit } }
    if belongs("video.latency") || belongs("latency") { return steps(timeline.videoDelay) { $0 > limit } }
    if belongs("audio.latency") { return steps(timeline.audioDelay) { $0 > limit } }
    if belongs("video.bitrate") { return steps(timeline.videoBitrate) { $0 < limit } }
    if belongs("absent"), let gone = peer.departure { return [Interval(start: gone.time, duration: peer.absent)] }
    return []
  }

  private static func concurrentEvents(_ result: RuleResult, _ peer: PeerReport, _ worst: Interval) -> [String] {
    var facts: [String] = []
    let timeline = peer.timeline
    let window = (start: worst.start, end: worst.start + worst.duration)
    func during(_ values: [Double?], before: Double = 0, after: Double = 0) -> (low: Double, high: Double)? {
      LaneSeries(step: timeline.step, values: values).range(from: window.start - before, to: window.end + after)
    }
    // Packets are counted slightly before and after their loss affects video and audio.
    if !result.measurement.contains("loss"), let loss = during(timeline.loss, before: 1, after: 1) {
      let isBlamed = worst.reason.map { ["lost", "recoveredLate", "waitingForKeyframe"].contains($0) } ?? false
      if loss.high >= 0.01 {
        facts.append("loss rose to \(NumberFormatting.share(loss.high))")
      } else if loss.high == 0, !isBlamed {
        facts.append("no packet was lost")
      }
    }
    if let bitrate = during(timeline.videoBitrate),
      let median = LaneSeries(step: timeline.step, values: timeline.videoBitrate).median, bitrate.low < median / 2
    {
      let least = bitrate.low > 0 ? "video fell to \(NumberFormatting.bitrate(bitrate.low))" : "no video arrived"
      facts.append("\(least) (median \(NumberFormatting.bitrate(median)))")
    }
    let asked = LaneSeries(step: timeline.step, values: timeline.keyframeRequests)
      .sum(from: window.start, to: window.end + 0.5)
    if asked >= 1 {
      facts.append("\(NumberFormatting.plural(Int(min(asked, 1e6)), "keyframe was", "keyframes were")) requested")
    }
    let others: [(String, String, IntervalSummary?)] = [
      ("video.freeze", "the video froze", peer.video?.freezes),
      ("video.black", "the video was black", peer.video?.black),
      ("video.frozen", "the video was static", peer.video?.frozen),
      ("audio.silence", "the audio was silent", peer.audio?.silence),
      ("audio.gap", "audio was missing", peer.audio?.gaps),
    ]
    for (family, clause, intervals) in others where !result.measurement.hasPrefix(family) {
      let overlaps =
        intervals?.list.contains { $0.start < window.end && $0.start + $0.duration > window.start } ?? false
      if overlaps { facts.append(clause) }
    }
    return facts
  }
}
