package import Media

/// Assigns the tracks that a participant sends to numbered streams, each with at most one track of each kind.
///
/// - A track keeps its number as long as its media section exists, also if it pauses or its description names another stream.
/// - If the participant sends one track of each kind at most, these are stream 1, whatever their descriptions name.
/// - Tracks with the same stream id (`a=msid`, RFC 8830) share a number, unless it has a track of that kind already.
/// - A new stream takes the number of one whose tracks have all stopped, so a screen that is shared again continues its stream;
///   else the next free number.
package struct StreamNumbering: Sendable {
  /// What a description says of a track.
  package struct Track: Sendable {
    /// The index of its m-line, the section's mid, and its position among the section's tracks.
    package var index: Int
    package var mid: String?
    package var ordinal: Int
    package var kind: MediaKind
    /// The track's id in a Plan B section, where the position among the tracks may change.
    package var trackID: String?
    package var streamID: String?
    /// Whether the participant sends it and we receive it.
    package var isActive: Bool

    package init(
      index: Int, mid: String? = nil, ordinal: Int = 0, kind: MediaKind, trackID: String? = nil,
      streamID: String? = nil,
      isActive: Bool = true
    ) {
      self.index = index
      self.mid = mid
      self.ordinal = ordinal
      self.kind = kind
      self.trackID = trackID
      self.streamID = streamID
      self.isActive = isActive
    }

    fileprivate func isSame(as other: Track) -> Bool {
      guard index == other.index, mid == other.mid, kind == other.kind else { return false }
      guard let trackID, let otherID = other.trackID else { return ordinal == other.ordinal }
      return trackID == otherID
    }
  }

  /// The tracks that have a number.
  private var numbered: [(track: Track, number: Int)] = []

  package init() {}

  /// Applies a description.
  ///
  /// - Parameter tracks: the tracks of all its sections that are used, in order.
  /// - Returns: the number of each track's stream, from 1; nil for one that was never active, or beyond the maximum.
  package mutating func assign(_ tracks: [Track]) -> [Int?] {
    let earlier = numbered
    numbered = []
    var numbers: [Int?] = tracks.map { _ in nil }
    // Tracks that go on come first: no other takes their place.
    for isActive in [true, false] {
      for (position, track) in tracks.enumerated() where track.isActive == isActive {
        guard let known = earlier.first(where: { $0.track.isSame(as: track) }) else { continue }
        if isActive, hasActive(track.kind, in: known.number) { continue }
        numbers[position] = known.number
        numbered.append((track, known.number))
      }
    }
    let isAlone = MediaKind.allCases.allSatisfy { kind in
      tracks.count { $0.isActive && $0.kind == kind } <= 1
    }
    let hasFirstOnly = numbered.allSatisfy { $0.number == 1 }
    for (position, track) in tracks.enumerated() where track.isActive && numbers[position] == nil {
      let isFree = !numbered.contains { $0.number == 1 && $0.track.kind == track.kind }
      guard let number = isAlone && hasFirstOnly && isFree ? 1 : number(for: track) else { continue }
      numbers[position] = number
      numbered.removeAll { !$0.track.isActive && $0.number == number && $0.track.kind == track.kind }
      numbered.append((track, number))
    }
    return numbers
  }

  private func hasActive(_ kind: MediaKind, in number: Int) -> Bool {
    numbered.contains { $0.number == number && $0.track.kind == kind && $0.track.isActive }
  }

  /// Returns the number for a new track.
  private func number(for track: Track) -> Int? {
    if let id = track.streamID,
      let own = numbered.first(where: { $0.track.streamID == id && !hasActive(track.kind, in: $0.number) })
    {
      return own.number
    }
    // Tracks of further streams are not received.
    let numbers = 1...TrackID.maximumStreams
    // Without an id, a track belongs to the first stream that has no track of its kind.
    if track.streamID == nil,
      let number = numbers.first(where: { number in
        numbered.contains { $0.number == number }
          && !numbered.contains { $0.number == number && $0.track.kind == track.kind }
      })
    {
      return number
    }
    let stopped = numbers.first { number in
      let own = numbered.filter { $0.number == number }
      return !own.isEmpty && !own.contains { $0.track.isActive }
    }
    return stopped ?? numbers.first { number in !numbered.contains { $0.number == number } }
  }
}
