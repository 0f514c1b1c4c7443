import ArgumentParser
import Composer
import Composition
import Console
import OptionValues

/// Compositions that the command line asks for: finds the calls, composes each, and says what happened. Wiring only.
struct Composing {
  let options: CompositionOptions
  let console: Console

  /// Checks what was written on the command line.
  static func options(_ arguments: CompositionArguments) throws -> CompositionOptions {
    try failing {
      try CompositionOptions(arguments) { path throws(CompositionError) in
        do throws(BoundedFile.ReadError) {
          return Array(try BoundedFile.read(path, longest: LayoutFile.maximumBytes))
        } catch {
          throw .input(error.sentence)
        }
      }
    }
  }

  /// Prints the plan of each call.
  func printPlan() throws {
    let found = try Self.failing { try CompositionJobs(for: options, checksOutput: false) }
    for problem in found.problems { console.say(problem) }
    for job in found.jobs {
      console.result(job.plan.text(job.options), isWanted: true)
      for problem in found.problems(of: job) { console.say(problem) }
      try write(CompositionReport(job.plan, job.options), to: job.options.report)
    }
    try end(found.refused)
  }

  /// Composes each call, until a signal arrives.
  func run() async throws {
    LowPriority.enter()
    let found = try Self.failing { try CompositionJobs(for: options, checksOutput: true) }
    for job in found.jobs { if let report = job.options.report { try Self.check(report) } }
    for problem in found.problems { console.say(problem) }
    let interruption = Interruption()
    interruption.beginOrderly()
    let display = ProgressDisplay<CompositionProgress.Stage>(console: console)
    let refused: [CompositionJobs.Refusal]
    do {
      defer { display.stop() }
      refused = try await found.compose(until: { await interruption.first() }) { job in
        for problem in found.problems(of: job) { console.say(problem) }
      } progress: { progress in
        display.show(progress.stage) { [progress.line(elapsed: $0)] }
      } ended: { job, outcome, elapsed in
        for problem in outcome.problems(of: job.plan) { console.say(problem) }
        try write(outcome.report(of: job), to: job.options.report)
        console.result(outcome.text(of: job, after: elapsed))
      }
    } catch {
      throw Self.failure(of: error)
    }
    try end(refused)
  }

  /// Says which of several calls were not composed. The exit code is that of the first one.
  private func end(_ refused: [CompositionJobs.Refusal]) throws {
    for refusal in refused { console.report("\(refusal)") }
    if let first = refused.first { throw first.failure.status.exitCode }
  }

  private func write(_ report: CompositionReport, to path: String?) throws {
    guard let path else { return }
    do { try DocumentFile.write(try report.json, to: path) } catch {
      throw CallFailure(.disk, DocumentFile.sentence(error, writing: path))
    }
  }

  private static func check(_ report: String) throws(CallFailure) {
    do throws(OutputError) { try DocumentFile.check(report) } catch {
      throw CallFailure(.disk, DocumentFile.sentence(error, writing: report))
    }
  }

  private static func failing<Value>(_ body: () throws -> Value) throws -> Value {
    do { return try body() } catch { throw failure(of: error) }
  }

  /// Gives errors of the libraries their exit codes.
  private static func failure(of error: any Error) -> any Error {
    switch error {
    case let error as CompositionError: failure(of: ComposerFailure(error))
    case ComposerFailure.usage(let sentence): ValidationError(sentence)
    case let failure as ComposerFailure: CallFailure(failure.status, failure.description)
    default: error
    }
  }
}

extension ComposerFailure {
  /// The exit code.
  var status: ExitStatus {
    switch self {
    case .usage: .usage
    case .input: .fileNotPlayable
    case .output: .disk
    case .worker: .unexpected
    }
  }
}
