import Media

/// What the lines to all viewers take.
struct ViewerBandwidth: Sendable {
  struct Line: Sendable, Hashable {
    /// Bits a second.
    var bitrate: Int
    /// The share of packets that is lost, 0 to 1.
    var fractionLost: Double
  }

  private var lines: [ParticipantID: Line] = [:]

  mutating func set(_ line: Line, of viewer: ParticipantID) { lines[viewer] = line }

  mutating func remove(_ viewer: ParticipantID) { lines[viewer] = nil }

  /// What one encoder makes for all of them: the least bitrate and the most loss of any, but at least half the bitrate, and at
  /// most twice the loss and 5 % more, of the median viewer. Nil without a viewer.
  ///
  /// What a line takes is what its viewer says of it (REMB, transport-cc, receiver reports): a false word costs the others no
  /// more than that. A viewer whose line takes less than is made gets fewer frames. Of two in the middle the better line counts.
  var common: Line? { Self.common(of: all) }

  /// The lines of all viewers.
  var all: [Line] { Array(lines.values) }

  /// The same of several sets of viewers.
  static func common(of lines: [Line]) -> Line? {
    let bitrates = lines.map(\.bitrate).sorted()
    let losses = lines.map(\.fractionLost).sorted()
    guard let least = bitrates.first, let most = losses.last else { return nil }
    let bitrate = bitrates[bitrates.count / 2]
    let lost = losses[(losses.count - 1) / 2]
    return Line(
      bitrate: max(least, bitrate / 2),
      fractionLost: losses.count == 1 ? most : min(most, lost * 2 + 0.05))
  }
}
