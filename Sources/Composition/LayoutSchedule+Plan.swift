package import Media

extension CompositionPlan {
  /// What a layout knows of the tiles, by the same indices. A user is known by the name, the ids and the label.
  package var layoutTiles: [LayoutTile] {
    tiles.map { tile in
      LayoutTile(
        user: tile.user, stream: tile.stream, isScreen: tile.isScreen, names: names(of: tile.user),
        presence: tile.presence)
    }
  }

  private func names(of user: Int) -> [UntrustedText] {
    guard users.indices.contains(user) else { return [] }
    var names = users[user].ids
    for name in [users[user].name, UntrustedText(users[user].label)].compactMap(\.self) where !names.contains(name) {
      names.append(name)
    }
    return names
  }

  /// When the tiles of the plan move.
  ///
  /// - Parameters:
  ///   - size: the size of the output, in pixels.
  ///   - speech: who speaks when, in order.
  ///   - speakers: who the speaker is, in order.
  ///   - rate: the rate of the output.
  package func schedule(
    of choice: LayoutChoice, size: VideoSize, speech: [SpeechSpan], speakers: [SpeakerChange], rate: FrameRate
  ) -> LayoutSchedule {
    LayoutSchedule(Layout(choice, tiles: layoutTiles, size: size), speech: speech, speakers: speakers, rate: rate)
  }
}
