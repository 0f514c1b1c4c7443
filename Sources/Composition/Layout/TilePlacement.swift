/// Where a tile is in the output frame, in pixels of the output; all even.
package struct TilePlacement: Sendable, Hashable {
  /// The index of the tile in the plan.
  package var tile: Int
  package var x: Int
  package var y: Int
  package var width: Int
  package var height: Int
  /// What has a greater value covers what has a smaller one.
  package var z: Int

  package init(tile: Int, x: Int, y: Int, width: Int, height: Int, z: Int = 0) {
    (self.tile, self.x, self.y, self.width, self.height, self.z) = (tile, x, y, width, height, z)
  }
}
