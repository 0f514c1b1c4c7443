import Media

/// A pause between a recorded frame and the one before it.
package struct PauseSpan: Sendable, Hashable {
  /// How long before the frame the pause began, and ended; of audio the end is that of the packet after it, which is left out.
  var start: Duration
  var end: Duration
  /// What the network lost of the pause.
  var lost: MediaGap
  /// What was missing before the pause; nil if nothing was reported.
  var before: MediaGap?
}
