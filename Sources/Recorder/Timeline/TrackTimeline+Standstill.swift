import Media

/// A media clock that stands still while the sender sends nothing: what reports and arrivals say about it.
extension TrackTimeline {
  /// Compares the arrival of a frame with that of the fastest ones.
  ///
  /// - Parameters:
  ///   - pause: how much longer than its media time the time since the frame before it was.
  ///   - other: the lateness of the other track since this one is late.
  mutating func compareArrival(of entry: Entry, delay: Duration, pause: Duration, other: FastestDelay.Excess?) {
    isComparing = true
    defer { isComparing = false }
    let lateness = fastest.add(delay, at: entry.arrival)
    detector.add(entry, lateness: lateness, pause: pause)
    unconfirmed?.frames += 1
    if unconfirmed != nil { confirmReport() }
    if found != nil { return }
    guard let late = detector.late else { return }
    if pause > StandstillDetector.maximumDelay {
      stoodStill(for: min(lateness, pause), frames: 1, since: entry.arrival)
    } else if let length = detector.standstill(at: entry, other: other) {
      stoodStill(for: length, frames: late.frames, since: late.since)
    } else if entry.arrival - late.since > StandstillDetector.maximumLateness {
      fastest.rise(by: late.least)
      detector.end()
    }
  }

  /// Continues after a gap.
  ///
  /// - Parameters:
  ///   - frames: how many of the last frames were after the standstill.
  ///   - since: when the first of them arrived.
  private mutating func stoodStill(for length: Duration, frames: Int, since: MonotonicInstant) {
    breaks += 1
    if let anchor { self.anchor = Anchor(time: anchor.time, position: anchor.position + length) }
    clockPosition += length
    position = max(position, clockPosition)
    found = Standstill(frames: frames, length: length)
    // The frame that is compared is not among them yet.
    recent.move(isComparing ? frames - 1 : frames, by: length)
    unconfirmed = nil
    anchoredAt = since + Self.reportDisorder
    if let lastReport, lastReport.report.arrived >= since + Self.reportDisorder {
      // A first report, which did not show that something was wrong.
      self.lastReport?.position += length
      reported.shift(by: length)
    }
    delays.discardPostponed()
    fastest.forgetRecent()
    detector.clockStoodStill()
  }

  /// Returns, once, by how much the network became slower, according to the last report.
  mutating func takeSlowdown() -> Slowdown? {
    defer { slowdown = nil }
    return slowdown
  }

  /// Takes into account that the network became slower, as the other track's report has shown.
  mutating func networkBecameSlower(_ slowdown: Slowdown) {
    if let late = detector.late, late.least >= slowdown.length * Self.confirmingShare {
      fastest.rise(by: min(slowdown.length, late.least))
      detector.end()
    } else if hasStarted, fastest.isSilent(since: slowdown.since) {
      fastest.rise(by: slowdown.length)
    }
  }
}

/// Sender reports.
extension TrackTimeline {
  /// Whether a report shows a standstill that frames have not confirmed.
  var hasUnconfirmedReport: Bool { unconfirmed != nil }

  /// Adds a sender report of the track.
  mutating func add(_ report: ClockReport) { add(ClockReading(report)) }

  /// Adds what a sender report of the track read.
  mutating func add(_ report: ClockReading) {
    guard report.ntp != 0 else { return }
    guard start != nil else {
      earlyReport = report
      return
    }
    // A report in ticks of another codec's clock says nothing of this one.
    guard isTrusted, report.time.rate == anchor?.time.rate, let position = clockPosition(of: report) else { return }
    if let anchoredAt, report.arrived < anchoredAt { return }
    guard let lag = reported.lag(of: report, at: position) else {
      reported.set(report, at: position)
      return note(report)
    }
    if lag > Self.reportError {
      unconfirmed = Unconfirmed(report: report)
      return confirmReport()
    }
    unconfirmed = nil
    if lag < .zero - Self.reportError {
      // The wall clock was set, or a standstill was too long: only the other track can follow.
      reported.set(report, at: position)
    } else {
      reported.adjust(to: report, at: position)
      explainLateness(by: report, standstill: .zero)
    }
    note(report)
  }

  /// Returns the position of a sender report's media time; nil if the report does not apply to the timeline.
  func position(of report: ClockReport) -> Duration? {
    guard let lastReport, lastReport.report == ClockReading(report) else { return nil }
    return lastReport.position
  }

  private func clockPosition(of report: ClockReading) -> Duration? {
    anchor.map { $0.position + report.time.duration(since: $0.time) }
  }

  private mutating func note(_ report: ClockReading) {
    guard let start, let position = clockPosition(of: report) else { return }
    let surprise = position - (report.arrived - start) - drift
    if surprise > Self.tolerance || surprise < .zero - Self.tolerance { return }
    lastReport = NotedReport(report: report, position: position)
  }

  /// Compares a report that shows a standstill with the frames: they must be late by as much.
  private mutating func confirmReport() {
    guard let report = unconfirmed?.report, let position = clockPosition(of: report),
      let lag = reported.lag(of: report, at: position), lag > .zero
    else { return unconfirmed = nil }
    let lateness: Duration?
    if let late = detector.late, late.arrived >= 3 {
      guard report.arrived >= late.since else {
        // It was sent during the pause, before the clock went on.
        unconfirmed = nil
        return
      }
      lateness = max(late.least, fastest.excess(since: report.arrived)?.least ?? .zero)
      // It may be about a further standstill, after which few frames have arrived.
      if let lateness, lateness < lag * Self.confirmingShare, unconfirmed?.frames ?? 3 < 3 { return }
    } else {
      let isOver = unconfirmed.map { $0.frames >= Self.confirmingFrames } ?? true
      let since = last.map { $0.arrival - report.arrived } ?? .zero
      guard isOver || unconfirmed?.frames ?? 0 > 2 && since >= Self.confirmingTime else { return }
      lateness = fastest.excess(since: report.arrived)?.least
    }
    unconfirmed = nil
    if let lateness, lateness >= lag * Self.confirmingShare {
      let length = min(lag, lateness)
      explainLateness(by: report, standstill: length)
      stoodStill(for: length, frames: detector.late?.frames ?? 1, since: detector.late?.since ?? report.arrived)
      return note(report)
    }
    // The frames are not late, so it is the wall clock that was set.
    reported.set(report, at: position)
    note(report)
  }

  /// Attributes the rest of the present lateness to the network, if a report was sent after it began.
  private mutating func explainLateness(by report: ClockReading, standstill: Duration) {
    guard let late = detector.late, report.arrived - late.since >= Self.reportDisorder else { return }
    if late.least > standstill {
      fastest.rise(by: late.least - standstill)
      slowdown = Slowdown(length: late.least - standstill, since: late.since)
    }
    if standstill == .zero { detector.end() }
  }
}
