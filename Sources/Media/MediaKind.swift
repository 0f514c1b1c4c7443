/// Whether a track is heard or seen.
public enum MediaKind: String, Sendable, Hashable, CaseIterable {
  case audio
  case video
}
