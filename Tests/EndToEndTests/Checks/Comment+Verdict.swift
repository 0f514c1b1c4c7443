import TestSupport
import Testing

extension Comment {
  /// Of what a check says of a browser: one that gets no processor time freezes, falls silent and is late.
  static var verdict: Comment { .onQuietMachine("a busy machine gives a call faults of its own") }
}
