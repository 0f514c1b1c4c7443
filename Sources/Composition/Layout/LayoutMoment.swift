/// Who is there and who speaks in an output frame.
package struct LayoutMoment: Sendable, Hashable {
  /// The tiles that are shown if there is room, by their index in the plan, in order of their first appearance.
  package var present: [Int] = []
  /// The tiles that have appeared until now, whether they are there or not, in the same order.
  package var appeared: [Int] = []
  /// For each of these tiles, when it appeared for the last time.
  package var arrivals: [Int: Int64] = [:]
  /// The user who spoke last, as `SpeakerChange` says.
  package var speaker: Int?
  /// When users spoke last: the end of their last speech, `Int64.max` while they speak. Who never spoke is missing.
  package var lastSpeech: [Int: Int64] = [:]

  package init() {}
}
