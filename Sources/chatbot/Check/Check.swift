import BotPeer
import CallCheck
import LiveSource
import Logging
import Media
import Recorder
import SkyRTC

/// One check: a call that is looked on and judged, and what is written about it. Wiring only.
struct Check {
  let options: CheckOptions
  let console: Console
  let log: Logger

  /// Takes part, judges, and writes what was requested.
  ///
  /// - Returns: the report; whether its rules hold is for the caller to look at.
  func run() async throws -> CheckReport {
    // What can be wrong without a network is found before anybody is disturbed.
    let outputs = options.rules.outputs
    var plan = try options.plan()
    try outputs.prepare()
    try plan.connectionSettings.check()
    let baseline = try options.rules.baselineReport()
    let rules = try options.allRules()
    let recordingStore = try RecordingStore(kept: options.record, isWanted: outputs.html != nil)
    plan.record = recordingStore.folder
    plan.verifies = false
    defer { recordingStore.clear() }

    var report: CheckReport
    var problem: CallFailure?
    if options.ofItself {
      let itself = try await SelfCheck(console: console, log: log).start()
      plan.connectionSettings.server = itself.server
      plan.connectionSettings.room = SelfCheck.room
      (report, problem) = try await judged(plan, by: rules, recordingStore)
      await itself.end()
    } else {
      (report, problem) = try await judged(plan, by: rules, recordingStore)
    }
    if let baseline { report.comparison = report.compared(with: baseline) }
    // Whatever cannot be written then, the verdict has been told.
    console.verdict(report, outputs: outputs)
    do {
      try outputs.write(report, page: outputs.html.map { recordingStore.page(of: report, at: $0) }, on: console)
    } catch {
      if let problem { console.report(problem.sentence) }
      throw error
    }
    // Everything has been written about a call that could not be taken part in; its own exit code says why.
    if let problem { throw problem }
    return report
  }

  /// The call, and what it comes to, even if it could not be taken part in.
  private func judged(
    _ plan: CallPlan, by rules: RuleList, _ recordingStore: RecordingStore
  ) async throws -> (CheckReport, CallFailure?) {
    let clock = WallClock.read()
    var judging = CallJudge.Options(start: clock.moment.instant, room: plan.connectionSettings.roomName)
    judging.wallClock = clock.secondsSince1970 * 1_000
    judging.expected = options.rules.expectation(peers: options.peers)
    if options.ofItself { judging.expected.pattern = .played }
    judging.rules = rules

    let display = CheckDisplay(console: console, room: plan.connectionSettings.roomName, span: options.span.duration)
    let checkObserver = CheckObserver(.init(wait: options.wait.duration, span: options.span.duration), log: log) {
      display.show($0)
    }
    let settings = judging
    async let judged = checkObserver.judge(settings)
    var problem: CallFailure?
    var recordings: [RecordingSummary] = []
    do {
      let participantRegistry = try await Call(plan: plan, console: console, log: log, observer: checkObserver).run()
      recordings = participantRegistry.recordings
      if options.record != nil { problem = participantRegistry.recordingProblem }
    } catch let failure as CallFailure {
      checkObserver.failed(failure.sentence)
      problem = failure
    }
    checkObserver.end()
    var report = await judged
    display.clear()
    report.start = RecordedClock.text(Int64((clock.secondsSince1970 * 1_000).rounded()))
    recordingStore.enter(recordings)
    if options.record != nil { recordingStore.list(in: &report) }
    if let act = options.act { report.act = .init(name: act.rawValue, performed: checkObserver.timesPerformed(act)) }
    if let impairment = plan.impairment {
      let first = report.peers.compactMap { $0.steps.firstPacket ?? $0.steps.dtlsConnected }.min()
      report.impairment = impairment.notes(from: first ?? report.mediaFrom ?? 0)
    }
    return (report, problem)
  }
}

extension Impairment {
  /// What was done and when, for the report.
  ///
  /// - Parameter zero: when the first packet of media came, in seconds since the check's start: scripts count from there,
  ///   and what holds at their beginning holds before, too.
  func notes(from zero: Double) -> [CheckReport.ImpairmentNote] {
    periods.map { period in
      CheckReport.ImpairmentNote(
        start: period.start == .zero ? 0 : zero + period.start / .seconds(1),
        end: period.end.map { zero + $0 / .seconds(1) },
        direction: period.direction.rawValue, text: "\(period.conditions)")
    }
  }
}
