import TestSupport
import Testing

extension Comment {
  /// A comment for a check's verdict on a browser: without processor time, a browser freezes, falls silent and is late.
  static var verdict: Comment { .onQuietMachine("a busy machine causes faults in a call") }
}
