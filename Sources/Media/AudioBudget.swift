/// How much audio a participant can have been heard with: at most time has passed.
///
/// Nobody speaks faster than time. Audio may come late and then all at once, but what came and what the recorder made in
/// lost packets' places is never much longer than the time that it took to come, whatever numbers and timestamps say.
package struct AudioBudget: Sendable {
  /// What a sender may be ahead from the first packet on, because the first ones took longer on their way than those after.
  package static let slack = Duration.seconds(1)
  /// Of a longer silence no more is remembered; then the connection is over (RFC 7675, 5.1).
  package static let maximumSilence = Duration.seconds(30)
  /// How far packets may be ahead of time before they are not taken any more.
  package static let maximumLead = Duration.seconds(5)
  /// How much faster than ours a sender's clock may run for ever.
  package static let tolerance = 0.01

  /// Time that has passed and that no audio has filled; below zero when there was more audio than time.
  package private(set) var room = AudioBudget.slack
  private var last: MonotonicInstant?

  package init() {}

  /// A packet came.
  ///
  /// - Parameter length: how long it is heard.
  /// - Returns: whether there was time for it; otherwise it is to be skipped.
  package mutating func take(_ length: Duration, arrival: MonotonicInstant) -> Bool {
    if let last, arrival > last { room = min(Self.maximumSilence, room + (arrival - last) * (1 + Self.tolerance)) }
    last = max(last ?? arrival, arrival)
    guard room - length >= .zero - Self.maximumLead else { return false }
    room -= length
    return true
  }

  /// The recorder has made so much audio.
  package mutating func spend(_ length: Duration) { room -= length }
}
