package import Media

/// What a layout knows of a tile of the plan.
package struct LayoutTile: Sendable, Hashable {
  /// The index of the user in the plan.
  package var user: Int
  /// The number of the user's stream, from 1.
  package var stream: Int
  /// Whether the stream is a shared screen.
  package var isScreen: Bool
  /// What the user can be called: the name and the ids.
  package var names: [UntrustedText]
  /// When the tile is shown, in units of `MediaTimebase.rate`. A user who leaves and returns is absent between.
  package var presence: [Range<Int64>]

  package init(user: Int, stream: Int = 1, isScreen: Bool = false, names: [UntrustedText], presence: [Range<Int64>]) {
    self.user = user
    self.stream = stream
    self.isScreen = isScreen
    self.names = names
    self.presence = presence
  }
}
