internal import Media

/// A connection of its own that listens for what other nodes have committed, on a thread of its own. It shortens waits and may miss
/// anything: who waits for a change also asks from time to time.
final class PostgreSQLListener: Sendable {
  private struct State {
    var bodies: [@Sendable (SQLTopic) -> Void] = []
    var isStarted = false
    var isClosed = false
  }

  private let settings: PostgreSQLSettings
  private let state = Monitor(State())

  init(_ settings: PostgreSQLSettings) { self.settings = settings }

  func close() { state.withLock { $0.isClosed = true } }

  /// Calls `body` with what has changed, on the thread of the connection, which begins with the first call.
  func add(_ body: @escaping @Sendable (SQLTopic) -> Void) {
    let starts = state.withLock { state in
      state.bodies.append(body)
      defer { state.isStarted = true }
      return !state.isStarted
    }
    if starts { DedicatedThread.start("listen") { [self] in run() } }
  }

  private var isClosed: Bool { state.withLock { $0.isClosed } }

  private func run() {
    var delay = Duration.milliseconds(200)
    while !isClosed {
      if let session = try? PostgreSQLSession(settings, generation: 0) {
        session.deadline = .now + settings.limits.statement
        if (try? session.execute("LISTEN \(SQLTopic.channel)")) != nil {
          delay = .milliseconds(200)
          // What changed before is told now.
          tell(Set(SQLTopic.allCases))
          while !isClosed, let payloads = session.notifications(atMost: .seconds(2)) {
            tell(Set(payloads.compactMap { SQLTopic(rawValue: $0) }))
          }
        }
      }
      _ = state.wait(atMost: delay * Double.random(in: 0.75...1.25)) { $0.isClosed ? true : nil }
      delay = min(delay * 2, .seconds(10))
    }
  }

  private func tell(_ topics: Set<SQLTopic>) {
    guard !topics.isEmpty else { return }
    for body in state.withLock({ $0.bodies }) {
      for topic in topics { body(topic) }
    }
  }
}
