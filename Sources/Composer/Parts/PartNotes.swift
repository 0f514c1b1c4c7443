internal import FoundationEssentials
internal import JSON

/// What happened while a part of a composition was made, as it is kept with the part: a run that continues reports it too.
struct PartNotes: Sendable, Codable {
  /// In the order of the plan.
  var tiles: [CompositionOutcome.Tile]

  init(tiles: [CompositionOutcome.Tile]) { self.tiles = tiles }

  /// Nil if the bytes are not those of notes about so many tiles.
  init?(_ bytes: [UInt8], tiles count: Int) {
    guard let notes = try? JSONReader.decode(Self.self, from: Data(bytes), within: JSONLimits()),
      notes.tiles.count == count
    else {
      return nil
    }
    self = notes
  }

  var bytes: [UInt8] { (try? JSONEncoder().encode(self)).map { Array($0) } ?? [] }
}

extension CompositionOutcome.Tile {
  static let none = Self(decodedFrames: 0, undecodedFrames: 0, crashes: 0, losses: [], problems: [])

  /// Adds what happened in a later part.
  mutating func add(_ other: Self) {
    decodedFrames += other.decodedFrames
    undecodedFrames += other.undecodedFrames
    crashes += other.crashes
    losses = losses.joined(with: other.losses)
    problems += other.problems.filter { !problems.contains($0) }
  }

  /// Returns what happened after an earlier moment of the same run.
  ///
  /// - Parameter start: that moment, in units of `MediaTimebase.rate`.
  func since(_ before: Self, at start: Int64) -> Self {
    Self(
      decodedFrames: decodedFrames - before.decodedFrames, undecodedFrames: undecodedFrames - before.undecodedFrames,
      crashes: crashes - before.crashes, losses: losses.filter { $0.end.map { $0 > start } ?? true },
      problems: problems)
  }
}
