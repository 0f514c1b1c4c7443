package import Signalling

/// What a ``JanusSession`` wants done after an input, in this order: requests sent, events delivered, problems logged,
/// the connection ended.
package struct JanusOutput: Sendable, Hashable {
  package var requests: [JanusRequest] = []
  package var events: [SignallingEvent] = []
  package var problems: [Problem] = []
  package var ending: Ending?

  package init() {}

  /// Something that is worth a log line.
  package struct Problem: Sendable, Hashable {
    package var sentence: String
    /// Whether people should see it; otherwise it is for debugging.
    package var isWarning: Bool
  }

  /// Why the connection is of no use any more.
  package enum Ending: Sendable, Hashable {
    /// The server knows that we have left.
    case left
    /// A new connection may help.
    case lost(reason: String)
    /// The connection carries nothing any more, which the server may not know. A new one continues the session if it is
    /// established before this one is closed.
    case unresponsive(reason: String)
    /// The server closed the room or removed us from it.
    case closed(reason: String)
    /// No new connection will help.
    case permanent(SignallingConnectError)
  }

  mutating func warn(_ sentence: String) { problems.append(Problem(sentence: sentence, isWarning: true)) }
  mutating func note(_ sentence: String) { problems.append(Problem(sentence: sentence, isWarning: false)) }
}
