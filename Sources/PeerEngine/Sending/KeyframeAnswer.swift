/// What becomes of a participant's wish for a keyframe of what we send.
public enum KeyframeAnswer: Sendable, Hashable {
  /// The pictures since the last keyframe are sent again, as fast as the line takes them: for a recorded source, which cannot
  /// make a keyframe. Where the line does not take them within a second, pictures are left out up to the next keyframe.
  case replay
  /// The source makes one: nothing is sent again, and who comes late begins with a new keyframe.
  case source
}
