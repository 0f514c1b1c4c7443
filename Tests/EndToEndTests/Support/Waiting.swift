import Media
import NIOCore
import NIOPosix

/// The error if something did not happen in its time.
struct TimeoutError: Error, CustomStringConvertible {
  let what: String
  let limit: Duration
  var last = ""

  var description: String {
    "After \(limit) there was still no \(what)\(last.isEmpty ? "" : "; last seen: \(last)")."
  }
}

/// The factor of all timeouts compared with a quiet machine. Longer timeouts cost nothing if the event occurs in time,
/// and durations are asserted separately.
let timeoutFactor = 3

/// Waits for a duration. `Task.sleep` is not used, for the reason stated at `EventLoop.sleep(for:)`: no limit would be
/// reliable.
func sleepOnEventLoop(for duration: Duration) async throws {
  try await MultiThreadedEventLoopGroup.singleton.any().sleep(for: duration)
}

/// Polls until there is an answer.
///
/// - Parameter what: the name of the answer in the error, for example "frame from the other side".
@discardableResult
func eventually<Answer>(
  _ what: String, within limit: Duration, every pause: Duration = .milliseconds(50),
  isolation: isolated (any Actor)? = #isolation, _ ask: () async throws -> Answer?
) async throws -> Answer {
  let limit = limit * timeoutFactor
  let deadline = ContinuousClock.now + limit
  while true {
    if let answer = try await ask() { return answer }
    guard ContinuousClock.now < deadline else { throw TimeoutError(what: what, limit: limit) }
    try await sleepOnEventLoop(for: pause)
  }
}

/// Runs `work` with a timeout. At the timeout it is cancelled but not awaited, because not everything that it may wait
/// for can be cancelled.
func within<Answer: Sendable>(
  _ limit: Duration, _ what: String, _ work: @escaping @Sendable () async throws -> Answer
) async throws -> Answer {
  let limit = limit * timeoutFactor
  let (answers, inbox) = AsyncThrowingStream.makeStream(of: Answer.self)
  let task = Task {
    do {
      inbox.yield(try await work())
      inbox.finish()
    } catch {
      inbox.finish(throwing: error)
    }
  }
  let timer = MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: TimeAmount(limit)) {
    inbox.finish(throwing: TimeoutError(what: what, limit: limit))
  }
  defer {
    timer.cancel()
    task.cancel()
  }
  for try await answer in answers { return answer }
  throw CancellationError()
}

/// Processes all elements concurrently, and returns the results in order.
func concurrently<Element: Sendable, Answer: Sendable>(
  _ elements: [Element], _ work: @escaping @Sendable (Element) async throws -> Answer
) async throws -> [Answer] {
  try await withThrowingTaskGroup(of: (Int, Answer).self) { group in
    for (index, element) in elements.enumerated() {
      group.addTask { (index, try await work(element)) }
    }
    let answers = try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    return elements.indices.compactMap { answers[$0] }
  }
}
