import CallCheck
import Console
import Inspection
import Logging

/// One inspection: opens recordings, judges them, and writes the requested reports. Wiring only.
struct Inspect {
  let files: [String]
  /// The expected number of peers, or nil for as many as are found.
  let peers: Int?
  let rules: RuleOptions
  let console: Console
  let log: Logger

  /// - Throws: ``CallFailure`` if there is nothing to judge.
  func run() throws -> RecordingInspection.Outcome {
    try rules.outputs.prepare()
    let baseline = try rules.baselineReport()
    // Each file stays open until the end.
    FileDescriptorLimit.allowMany()
    let inspection = try open()
    let recordings = inspection.recordings
    for recording in recordings {
      let files = recording.files.joined(separator: " ")
      log.info("opened", metadata: ["user": "\(recording.participant)", "files": "\(files)"])
    }
    let settings = try settings()
    let display = ProgressDisplay<String>(console: console)
    var outcome = inspection.run(settings) { step in
      display.show("judging") { [step.line(of: recordings.count, elapsed: $0)] }
    }
    display.stop()
    if let baseline { outcome.report.comparison = outcome.report.compared(with: baseline) }
    return outcome
  }

  /// Prints the verdict and the remarks and writes the reports; the verdict first, so that it is shown even if a report
  /// cannot be written.
  ///
  /// - Throws: ``CallFailure`` if a report could not be written.
  func report(_ outcome: RecordingInspection.Outcome) throws(CallFailure) {
    let outputs = rules.outputs
    for remark in outcome.remarks { console.say(remark) }
    console.verdict(outcome.report, outputs: outputs)
    for problem in outcome.problems { console.report(problem) }
    let page = outputs.html.map { (report: outcome.report, recordings: outcome.recordings(forPageAt: $0)) }
    try outputs.write(outcome.report, page: page, on: console)
  }

  private func open() throws(CallFailure) -> RecordingInspection {
    defer { console.clearStatus() }
    do throws(RecordingInspection.OpenError) {
      return try RecordingInspection(opening: files, outputs: rules.outputs.files) { step in
        console.show(lines: [step.line(of: files.count, elapsed: .zero)])
      }
    } catch {
      throw CallFailure(error)
    }
  }

  private func settings() throws -> RecordingInspection.Settings {
    let expected = rules.expectation(peers: peers ?? 1)
    return .init(
      peers: peers, audio: expected.audio, video: expected.video, pattern: expected.pattern, rules: try rules.rules())
  }
}

extension CallFailure {
  /// The failure of opening recordings.
  fileprivate init(_ error: RecordingInspection.OpenError) {
    let code: ExitStatus =
      switch error {
      case .outputIsInspected, .tooManyRecordings: .usage
      case .noRecordings: .fileNotPlayable
      }
    self.init(code, error.description)
  }
}
