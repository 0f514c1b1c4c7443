package import Media

/// Which streams of users have tracks, by what their descriptions say. Pure.
package struct AnnouncedStreams: Sendable {
  private var numbers: [ParticipantID: Set<Int>] = [:]

  /// The maximum number of users that are kept.
  private static let maximumUsers = 100_000

  package init() {}

  /// Takes what a user's description says of a stream.
  package mutating func note(_ stream: MediaStream, of user: ParticipantID) {
    guard numbers.count < Self.maximumUsers || numbers[user] != nil else { return }
    if stream.tracks.isEmpty {
      numbers[user]?.remove(stream.number)
    } else {
      numbers[user, default: []].insert(stream.number)
    }
  }

  package mutating func forget(_ user: ParticipantID) { numbers[user] = nil }

  /// Whether a user had streams and has stopped all of them.
  package func hasStopped(_ user: ParticipantID) -> Bool { numbers[user]?.isEmpty ?? false }
}
