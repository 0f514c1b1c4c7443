package import Composition

/// What happened while a composition was made.
package struct CompositionOutcome: Sendable, Hashable {
  /// What happened to the video of a tile.
  package struct Tile: Sendable, Hashable, Codable {
    /// Frames that were decoded, and those of them that could not be.
    package var decodedFrames: Int
    package var undecodedFrames: Int
    /// How often a process that decoded ended.
    package var crashes: Int
    /// Times of which frames are missing, in order.
    package var losses: [PictureLoss]
    /// Files that could not be read, or not to their end, a sentence each.
    package var problems: [String]
  }

  /// The frames of the output; 0 without video.
  package var frames: Int64
  /// The parts of the video, and how many of them an earlier run had finished.
  package var parts: Int
  package var resumedParts: Int
  package var scan: SoundScan
  /// Nil without audio.
  package var mix: SoundMixReport?
  /// In the order of the plan; with the parts of an earlier run.
  package var tiles: [Tile]
  /// What was not done, a sentence each.
  package var problems: [String]
}
