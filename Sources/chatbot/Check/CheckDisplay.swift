import CallCheck
import CallReport
import Console
import Synchronization

/// Shows the progress of a check: on a terminal as a few text lines that are overwritten, otherwise as a new text line
/// for each relevant change.
final class CheckDisplay: Sendable {
  private let console: Console
  private let room: String
  private let span: Duration
  private let reported = Mutex("")

  init(console: Console, room: String, span: Duration) {
    (self.console, self.room, self.span) = (console, room, span)
  }

  func show(_ status: CheckStatus) {
    if console.isTerminal { return console.show(lines: status.lines(of: room, judgingFor: span)) }
    let sentence = status.sentence(of: span)
    let isNew = reported.withLock { reported in
      defer { reported = sentence }
      return reported != sentence
    }
    if isNew { console.say(sentence) }
  }
}
