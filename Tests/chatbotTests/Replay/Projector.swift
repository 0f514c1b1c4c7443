import Media

/// A film that is being played in a call.
struct Projector {
  private let film: Film
  private let start: ContinuousClock.Instant
  private let last: Duration
  private var position = 0
  /// The frames sent so far.
  private(set) var played: [EncodedFrame] = []

  /// - Parameter length: The duration of the film to play.
  init(_ film: Film, at start: ContinuousClock.Instant, length: Duration) {
    self.film = film
    self.start = start
    last = length
  }

  /// When the next frame is due, or nil if there is none.
  var deadline: ContinuousClock.Instant? {
    guard film.shots.indices.contains(position), film.shots[position].due < last else { return nil }
    return start + film.shots[position].due
  }

  /// Returns the next frame if one is due.
  mutating func next(now: ContinuousClock.Instant) -> EncodedFrame? {
    guard let deadline, deadline <= now else { return nil }
    var frame = film.shots[position].frame
    frame.arrival = deadline
    position += 1
    played.append(frame)
    return frame
  }
}
