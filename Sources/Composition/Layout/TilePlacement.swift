/// Where a tile is in the output frame, in pixels of the output; all even.
package struct TilePlacement: Sendable, Hashable {
  /// The index of the tile in the plan. With a file of regions a tile can have several placements.
  package var tile: Int
  package var x: Int
  package var y: Int
  package var width: Int
  package var height: Int
  /// What has a greater value covers what has a smaller one.
  package var z: Int
  /// How the frame is fitted into the placement; nil where the option `--fit` decides.
  package var fit: TileFit?

  package init(tile: Int, x: Int, y: Int, width: Int, height: Int, z: Int = 0, fit: TileFit? = nil) {
    (self.tile, self.x, self.y, self.width, self.height, self.z, self.fit) = (tile, x, y, width, height, z, fit)
  }
}

/// How a frame is fitted into a tile of another shape.
package enum TileFit: String, Sendable, Hashable, Codable, CaseIterable {
  /// The whole frame, with bars.
  case contain
  /// The whole tile; what does not fit of the frame is cropped.
  case cover
}
