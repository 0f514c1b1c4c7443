internal import Composition
internal import Media

extension CompositionJobs {
  /// Composes the calls one after the other, each on a thread of its own.
  ///
  /// - Parameters:
  ///   - signal: Waits for a signal that ends the work, and returns its number; nil if none will come.
  ///   - began: Called before each call.
  ///   - progress: Called often, on the thread that composes.
  ///   - ended: Called when the output of a call is written, with the time that it took.
  /// - Returns: Of several calls (`--all`), those that were not composed.
  /// - Throws: ``ComposerFailure``; ``CompositionInterruption`` after a signal, when the thread goes on until the program ends; and
  ///   what `ended` throws.
  package func compose(
    until signal: @escaping @Sendable () async -> Int32?, began: (CompositionJob) -> Void = { _ in },
    progress: @escaping @Sendable (CompositionProgress) -> Void = { _ in },
    ended: (CompositionJob, CompositionOutcome, _ elapsed: Duration) throws -> Void
  ) async throws -> [Refusal] {
    let (events, input) = AsyncStream.makeStream(of: Event.self)
    let watch = Task { if let signal = await signal() { input.yield(.signal(signal)) } }
    defer { watch.cancel() }
    var iterator = events.makeAsyncIterator()
    var refused = refused
    for job in jobs {
      began(job)
      let begun = ContinuousClock.now
      start(job, input, progress)
      switch await iterator.next() {
      case .ended(.success(let outcome)): try ended(job, outcome, ContinuousClock.now - begun)
      case .ended(.failure(let failure)):
        guard job.options.calls == .all, failure.concernsOneCall else { throw failure }
        refused.append(Refusal(call: job.call.number, failure))
      case .signal(let signal): throw CompositionInterruption(job, signal: signal)
      case nil: throw CancellationError()
      }
    }
    return refused
  }

  /// What the composition of a call waits for.
  private enum Event: Sendable {
    case ended(Result<CompositionOutcome, ComposerFailure>)
    case signal(Int32)
  }

  private func start(
    _ job: CompositionJob, _ input: AsyncStream<Event>.Continuation,
    _ progress: @escaping @Sendable (CompositionProgress) -> Void
  ) {
    let isStarted = DedicatedThread.start("compose", niceness: LowPriority.niceness) {
      do throws(ComposerFailure) {
        let composer = Composer(job.plan, job.options, output: job.options.output)
        input.yield(.ended(.success(try composer.run(progress))))
      } catch {
        input.yield(.ended(.failure(error)))
      }
    }
    if !isStarted { input.yield(.ended(.failure(.worker("The system has no further thread.")))) }
  }
}
