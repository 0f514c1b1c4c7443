package import Composition

/// The compositions that the command line asks for: found, planned and checked.
package struct CompositionJobs: Sendable {
  package private(set) var jobs: [CompositionJob] = []
  /// Of several calls (`--all`), those that are not composed: the options do not fit them.
  package private(set) var refused: [Refusal] = []
  /// What is missing or cannot be used in all that was searched, a sentence each. Each plan has them too.
  package let problems: [String]

  /// A call that is not composed, while others are.
  package struct Refusal: Error, Sendable, Hashable, CustomStringConvertible {
    package let call: Int
    package let failure: ComposerFailure

    package init(call: Int, _ failure: ComposerFailure) { (self.call, self.failure) = (call, failure) }

    package var description: String { "Call \(call) is not composed: \(failure.description)" }
  }

  /// Finds the calls that the options want, and plans each.
  ///
  /// - Parameter checksOutput: whether the outputs must be such that they can be written.
  /// - Throws: why nothing is composed: there is no recording, there are several calls, options do not fit any call.
  package init(for options: CompositionOptions, checksOutput: Bool) throws(ComposerFailure) {
    let list: CallList
    let calls: [FoundCall]
    do throws(CompositionError) {
      list = try CallList(searching: options.inputs, isPartial: options.isPartial)
      calls = try list.selected(by: options)
    } catch {
      throw ComposerFailure(error)
    }
    problems = list.problems
    for call in calls {
      do throws(ComposerFailure) {
        jobs.append(try Self.job(of: call, options, problems, checksOutput: checksOutput))
      } catch {
        guard options.calls == .all else { throw error }
        refused.append(Refusal(call: call.number, error))
      }
    }
    if jobs.isEmpty, let first = refused.first { throw first.failure }
  }

  private static func job(
    of call: FoundCall, _ options: CompositionOptions, _ problems: [String], checksOutput: Bool
  ) throws(ComposerFailure) -> CompositionJob {
    let job: CompositionJob
    do throws(CompositionError) {
      try call.checkFinished(options)
      job = try CompositionJob(call, for: options, problems: problems)
    } catch {
      throw ComposerFailure(error)
    }
    if checksOutput { try job.checkOutput() }
    return job
  }

  /// What the plan of a job says in addition, a sentence each.
  package func problems(of job: CompositionJob) -> [String] { Array(job.plan.problems.dropFirst(problems.count)) }
}

extension ComposerFailure {
  /// The failure of options or recordings.
  package init(_ error: CompositionError) {
    switch error.kind {
    case .usage: self = .usage(error.sentence)
    case .input: self = .input(error.sentence)
    }
  }

  /// Whether another call may be composed all the same.
  package var concernsOneCall: Bool {
    switch self {
    case .usage, .input: true
    case .output, .worker: false
    }
  }
}
