import ArgumentParser
import Composer
import Composition
import Console
import FoundationEssentials
import Media
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
    for job in try Self.failing({ try CompositionJob.all(for: options) }) {
      console.result(job.plan.text(job.options), isWanted: true)
      for problem in job.plan.problems { console.say(problem) }
      try write(CompositionReport(job.plan, job.options), to: job.options.report)
    }
  }

  /// Composes each call on a thread of its own.
  func run() async throws {
    LowPriority.enter()
    let jobs = try Self.failing { try CompositionJob.all(for: options) }
    for job in jobs { try Self.failing { try job.checkOutput() } }
    for job in jobs {
      if let report = job.options.report { try Self.check(report) }
      for problem in job.plan.problems { console.say(problem) }
      let begun = ContinuousClock.now
      let outcome = try await compose(job)
      for problem in outcome.problems(of: job.plan) { console.say(problem) }
      try write(outcome.report(of: job), to: job.options.report)
      console.result(outcome.text(of: job, after: ContinuousClock.now - begun))
    }
  }

  private func compose(_ job: CompositionJob) async throws -> CompositionOutcome {
    let display = ComposingDisplay(console: console)
    defer { console.clearStatus() }
    let result: Result<CompositionOutcome, ComposerFailure> = await withCheckedContinuation { continuation in
      let isStarted = DedicatedThread.start("compose", niceness: LowPriority.niceness) {
        do throws(ComposerFailure) {
          let outcome = try Composer(job.plan, job.options, output: job.options.output).run { display.show($0) }
          continuation.resume(returning: .success(outcome))
        } catch {
          continuation.resume(returning: .failure(error))
        }
      }
      if !isStarted { continuation.resume(returning: .failure(.worker("The system has no further thread."))) }
    }
    return try Self.failing { try result.get() }
  }

  private func write(_ report: CompositionReport, to path: String?) throws {
    guard let path else { return }
    do { try DocumentFile.write(try report.json, to: path) } catch {
      throw CallFailure(.disk, "\(path) cannot be written: \(FileErrorDescription.sentence(error))")
    }
  }

  private static func check(_ report: String) throws(CallFailure) {
    do throws(OutputError) { try DocumentFile.check(report) } catch {
      throw CallFailure(.disk, "\(report) cannot be written: \(FileErrorDescription.sentence(error))")
    }
  }

  /// Gives errors of the libraries their exit codes.
  private static func failing<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch let error as CompositionError {
      switch error.kind {
      case .usage: throw ValidationError(error.sentence)
      case .input: throw CallFailure(.fileNotPlayable, error.sentence)
      }
    } catch let error as ComposerFailure {
      switch error {
      case .usage(let sentence): throw ValidationError(sentence)
      case .input(let sentence): throw CallFailure(.fileNotPlayable, sentence)
      case .output(let sentence): throw CallFailure(.disk, sentence)
      case .worker(let sentence): throw CallFailure(.unexpected, sentence)
      }
    }
  }
}
