import Call
import CallCheck
import CallReport
import Console
import FaultInjection
import Inspection
import JobProcess
import Logging
import Media
import NetworkEmulation
import OptionValues
import Recorder
import SignallingAdapters

/// One check: joins a call, judges it and writes the reports. Wiring only.
struct Check {
  let options: CheckOptions
  let console: Console
  let log: Logger
  /// The job that this check is; nil for a command.
  var job: RunningJob?

  /// Joins the call, judges it, and writes the requested reports.
  ///
  /// - Returns: The report; the caller decides what to do if a rule fails.
  func run() async throws -> CheckReport {
    // Find errors that need no network before joining, so that no participant notices them.
    let outputs = options.rules.outputs
    var settings = try options.settings()
    job?.limit(&settings.call)
    try outputs.prepare()
    try settings.server.check()
    let baseline = try options.rules.baselineReport()
    let rules = try options.allRules()
    let kept = try openRecordings(for: outputs)
    defer { kept.clear() }

    var report: CheckReport
    var problem: CallFailure?
    func record() {
      settings.call.recording = kept.folder.map { options.recording(in: $0, of: settings.server) }
      settings.server.signalling.records = settings.call.recording != nil
    }
    if options.selfCheck {
      let itself = try await SelfCheck(log: log).start()
      settings.server.signalling.address = itself.server
      settings.server.signalling.room = SelfCheck.room
      record()
      (report, problem) = try await judged(settings, by: rules, kept)
      await itself.end()
    } else {
      record()
      (report, problem) = try await judged(settings, by: rules, kept)
    }
    if let baseline { report.comparison = report.compared(with: baseline) }
    // The verdict is printed first, so that it is shown even if a file cannot be written.
    console.verdict(report, outputs: outputs)
    do {
      try outputs.write(report, page: outputs.html.map { kept.page(of: report, at: $0) }, on: console)
    } catch {
      if let problem { console.report(problem.sentence) }
      throw error
    }
    // The reports are written even if the call failed; the call's own exit code says why it failed.
    if let problem { throw problem }
    return report
  }

  private func openRecordings(for outputs: CheckOutputs) throws(CallFailure) -> CheckRecordings {
    do {
      return try CheckRecordings(kept: options.record, isWanted: outputs.html != nil)
    } catch {
      throw CallFailure(error)
    }
  }

  /// Runs the call and returns its report, even if the call failed.
  private func judged(
    _ settings: CallSettings, by rules: RuleList, _ kept: CheckRecordings
  ) async throws -> (CheckReport, CallFailure?) {
    let clock = WallClock.read()
    var judging = options.judging(start: clock.moment.instant, room: settings.server.roomName)
    judging.wallClock = clock.secondsSince1970 * 1_000
    judging.rules = rules

    let display = CheckDisplay(console: console, room: settings.server.roomName, span: options.span.duration)
    let checkObserver = CheckObserver(
      .init(wait: options.wait.duration, span: options.span.duration), dataBitrate: options.data?.bitsPerSecond,
      on: MediaThread.loop, log: log
    ) { display.show($0) }
    let judgeOptions = judging
    async let judged = checkObserver.judge(judgeOptions)
    var problem: CallFailure?
    var recordings: [RecordingSummary] = []
    do {
      var runner = CallRunner(settings: settings, console: console, log: log, observer: checkObserver)
      if let job { runner.supervise(by: job) }
      let outcome = try await runner.run()
      recordings = outcome.recordings
      problem = outcome.failure ?? (options.record != nil ? outcome.recordingFailure : nil)
    } catch let failure as CallFailure {
      checkObserver.failed(failure.sentence)
      problem = failure
    }
    checkObserver.end()
    var report = await judged
    console.clearStatus()
    report.start = RecordedClock.text(Int64((clock.secondsSince1970 * 1_000).rounded()))
    kept.add(recordings)
    if options.record != nil { kept.list(in: &report) }
    if let fault = options.fault {
      report.fault = .init(name: fault.rawValue, injectionCount: checkObserver.injectionCount(of: fault))
    }
    if let impairment = try options.impairment() {
      let first = report.peers.compactMap { $0.steps.firstPacket ?? $0.steps.dtlsConnected }.min()
      report.impairment = impairment.notes(from: first ?? report.mediaFrom ?? 0)
    }
    return (report, problem)
  }
}

extension CheckObserver {
  /// How often the fault was injected, or nil if that is not counted.
  func injectionCount(of fault: Fault) -> UInt64? {
    if fault.isInjectedBySource { return nil }
    return fault == .suddenLeave ? endedCallCount : injectionCount
  }
}

extension Impairment {
  /// The impairment's periods, for the report.
  ///
  /// - Parameter zero: The arrival time of the first media packet, in seconds since the start of the check. Scripts count
  ///   from there, and their first settings also apply before it.
  func notes(from zero: Double) -> [CheckReport.ImpairmentNote] {
    periods.map { period in
      CheckReport.ImpairmentNote(
        start: period.start == .zero ? 0 : zero + period.start / .seconds(1),
        end: period.end.map { zero + $0 / .seconds(1) },
        direction: period.direction.rawValue, text: "\(period.conditions)")
    }
  }
}

/// Printing of a verdict.
extension Console {
  /// Prints a verdict as a table as wide as the terminal: on standard output, or on standard error if a report uses
  /// standard output. With `--quiet` it is printed only on standard output, and only if a rule failed. In a job of GitHub
  /// Actions, annotations of the failures follow.
  func verdict(_ report: CheckReport, outputs: CheckOutputs) {
    let onStandardError = outputs.takesStandardOutput
    if isQuiet, onStandardError || report.verdict == .held { return }
    let columns = onStandardError ? errorColumns : outputColumns
    var table = report.table(
      width: columns ?? 100, isUnicode: Terminal.isUnicode,
      isColoured: onStandardError ? errorsAreColoured : outputIsColoured)
    while table.last == "\n" { table.removeLast() }
    if onStandardError { write(styled: table) } else { result(styled: table, isWanted: true) }
    annotate(report.annotations, onStandardError: onStandardError)
  }
}
