internal import Media

/// Which streams of a user have tiles.
struct StreamRoles: Sendable {
  /// The stream that is shown in the user's own tile; nil for somebody who only shares a screen.
  let main: Int?
  /// The streams without a tile of their own, which are the user's presence: that of the camera, and those of audio alone.
  let present: Set<Int>
  /// The further streams with video, in order: whether each is a screen.
  let further: [(stream: Int, isScreen: Bool)]

  init(_ group: UserGroup) {
    let streams = Set(group.recordings.map(\.stream)).sorted()
    let withVideo = Set(group.recordings.filter { $0.times.video != nil }.map(\.stream))
    var contents: [Int: String] = [:]
    for member in group.recordings {
      if let content = member.content, !content.isEmpty { contents[member.stream] = content }
    }
    let screens = Set(streams.filter { withVideo.contains($0) && contents[$0].map(Self.isScreen) ?? false })
    let main =
      streams.first { withVideo.contains($0) && !screens.contains($0) } ?? streams.first { !screens.contains($0) }
    self.main = main
    further = streams.filter { $0 != main && withVideo.contains($0) }.map { stream in
      // Most systems do not say what a stream shows. A second video is a screen then.
      (stream, screens.contains(stream) || contents[stream] == nil)
    }
    present = Set(streams.filter { $0 == main || !withVideo.contains($0) })
  }

  /// Whether a description of a stream is that of a screen: `slides` of RFC 4796, or a description of some system.
  private static func isScreen(_ content: String) -> Bool {
    let text = content.lowercased()
    return ["slides", "screen", "desktop", "presentation", "display"].contains { text.utf8.containsASCII($0) }
  }
}

extension String.UTF8View {
  fileprivate func containsASCII(_ word: String) -> Bool {
    let (text, wanted) = (Array(self), Array(word.utf8))
    guard text.count >= wanted.count else { return false }
    return (0...text.count - wanted.count).contains { text[$0..<$0 + wanted.count].elementsEqual(wanted) }
  }
}
