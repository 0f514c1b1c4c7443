package import Signalling

/// What an ``ExecSession`` wants done after an input, in this order: requests sent, events delivered, problems logged, the
/// connection ended.
package struct ExecOutput: Sendable, Hashable {
  package var requests: [ExecRequest] = []
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

  /// Why the program is of no use any more.
  package enum Ending: Sendable, Hashable {
    /// Another start may help.
    case lost(reason: String)
    /// The program says that the join, or what we are to do, is rejected.
    case rejected(reason: String)
    /// The program says that the room does not exist any more, or that we were removed from it.
    case ended(reason: String)
  }

  mutating func warn(_ sentence: String) { problems.append(Problem(sentence: sentence, isWarning: true)) }
  mutating func note(_ sentence: String) { problems.append(Problem(sentence: sentence, isWarning: false)) }
}
