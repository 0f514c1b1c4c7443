import NIOCore
import NIOPosix

/// Something did not happen in the time it was given.
struct TookTooLong: Error, CustomStringConvertible {
  let what: String
  let limit: Duration
  var last = ""

  var description: String {
    "After \(limit) there was still no \(what)\(last.isEmpty ? "" : "; last seen: \(last)")."
  }
}

/// How many times as long as it takes on a quiet machine is waited for anything: to wait longer costs nothing where it comes in
/// time, and what took how long is asserted apart from that.
let patience = 3

/// Waits for a time, by a timer of an event loop.
///
/// `Task.sleep` is not used here: Dispatch's timer has been seen to fire and never to be set again, on a machine whose host took
/// half of its time. Then nothing that sleeps in the whole process wakes up, and no limit holds.
func sleepOnEventLoop(for duration: Duration) async throws {
  let timer = MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: TimeAmount(duration)) {}
  do {
    try await withTaskCancellationHandler {
      try await timer.futureResult.get()
    } onCancel: {
      timer.cancel()
    }
  } catch is EventLoopError {
    throw CancellationError()
  }
}

/// Asks again and again until there is an answer.
///
/// - Parameter what: names it in the error, for example "picture from the other side".
@discardableResult
func eventually<Answer>(
  _ what: String, within limit: Duration, every pause: Duration = .milliseconds(50),
  isolation: isolated (any Actor)? = #isolation, _ ask: () async throws -> Answer?
) async throws -> Answer {
  let limit = limit * patience
  let deadline = ContinuousClock.now + limit
  while true {
    if let answer = try await ask() { return answer }
    guard ContinuousClock.now < deadline else { throw TookTooLong(what: what, limit: limit) }
    try await sleepOnEventLoop(for: pause)
  }
}

/// Runs `work` and gives up on it after `limit`.
func within<Answer: Sendable>(
  _ limit: Duration, _ what: String, _ work: @escaping @Sendable () async throws -> Answer
) async throws -> Answer {
  let limit = limit * patience
  return try await withThrowingTaskGroup(of: Answer.self) { group in
    group.addTask(operation: work)
    group.addTask {
      try await sleepOnEventLoop(for: limit)
      throw TookTooLong(what: what, limit: limit)
    }
    defer { group.cancelAll() }
    guard let first = try await group.next() else { throw TookTooLong(what: what, limit: limit) }
    return first
  }
}

/// Does the same with each element, all at once, and gives the results in order.
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
