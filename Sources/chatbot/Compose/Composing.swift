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
    let found = try Self.failing { try CompositionJobs(for: options, checksOutput: false) }
    for problem in found.problems { console.say(problem) }
    for job in found.jobs {
      console.result(job.plan.text(job.options), isWanted: true)
      for problem in found.problems(of: job) { console.say(problem) }
      try write(CompositionReport(job.plan, job.options), to: job.options.report)
    }
    try end(found.refused)
  }

  /// Composes each call on a thread of its own.
  func run() async throws {
    LowPriority.enter()
    let found = try Self.failing { try CompositionJobs(for: options, checksOutput: true) }
    for job in found.jobs { if let report = job.options.report { try Self.check(report) } }
    for problem in found.problems { console.say(problem) }
    var refused = found.refused
    let interruption = Interruption()
    interruption.beginOrderly()
    let (events, input) = AsyncStream.makeStream(of: Event.self)
    let watch = Task { if let signal = await interruption.first() { input.yield(.signal(signal)) } }
    defer { watch.cancel() }
    var iterator = events.makeAsyncIterator()
    for job in found.jobs {
      for problem in found.problems(of: job) { console.say(problem) }
      let begun = ContinuousClock.now
      do {
        let display = ComposingDisplay(console: console)
        begin(job, display, input)
        let outcome = try await end(of: job, display, &iterator)
        for problem in outcome.problems(of: job.plan) { console.say(problem) }
        try write(outcome.report(of: job), to: job.options.report)
        console.result(outcome.text(of: job, after: ContinuousClock.now - begun))
      } catch let failure as ComposerFailure where options.calls == .all && failure.concernsOneCall {
        refused.append(.init(call: job.call.number, failure))
      } catch {
        try Self.failing { throw error }
      }
    }
    try end(refused)
  }

  /// Says which of several calls were not composed. The exit code is that of the first one.
  private func end(_ refused: [CompositionJobs.Refusal]) throws {
    for refusal in refused { console.report("\(refusal)") }
    if let first = refused.first { throw first.failure.status.exitCode }
  }

  /// What a composition waits for.
  private enum Event {
    case end(Result<CompositionOutcome, ComposerFailure>)
    case signal(Int32)
  }

  private func begin(
    _ job: CompositionJob, _ display: ComposingDisplay, _ input: AsyncStream<Event>.Continuation
  ) {
    let isStarted = DedicatedThread.start("compose", niceness: LowPriority.niceness) {
      do throws(ComposerFailure) {
        let outcome = try Composer(job.plan, job.options, output: job.options.output).run { display.show($0) }
        input.yield(.end(.success(outcome)))
      } catch {
        input.yield(.end(.failure(error)))
      }
    }
    if !isStarted { input.yield(.end(.failure(.worker("The system has no further thread.")))) }
  }

  /// - Throws: `CompositionInterruption` after a signal; the thread goes on until the program ends.
  private func end(
    of job: CompositionJob, _ display: ComposingDisplay, _ events: inout AsyncStream<Event>.Iterator
  ) async throws -> CompositionOutcome {
    let event = await events.next()
    display.stop()
    switch event {
    case .end(let result): return try result.get()
    case .signal(let signal): throw CompositionInterruption(job, signal: signal)
    case nil: throw CancellationError()
    }
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
    } catch let failure as ComposerFailure {
      if case .usage(let sentence) = failure { throw ValidationError(sentence) }
      throw CallFailure(failure.status, failure.description)
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
