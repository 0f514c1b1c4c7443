import Media

/// What the lines to all viewers take.
struct ViewerLines: Sendable {
  struct Line: Sendable, Hashable {
    /// Bits a second.
    var bitrate: Int
    /// The share of packets that is lost, 0 to 1.
    var fractionLost: Double
  }

  private var lines: [ParticipantID: Line] = [:]

  mutating func set(_ line: Line, of viewer: ParticipantID) { lines[viewer] = line }

  mutating func remove(_ viewer: ParticipantID) { lines[viewer] = nil }

  /// The least bitrate and the most loss of any; nil without a viewer.
  var worst: Line? {
    guard let bitrate = lines.values.map(\.bitrate).min(), let lost = lines.values.map(\.fractionLost).max() else {
      return nil
    }
    return Line(bitrate: bitrate, fractionLost: lost)
  }
}
