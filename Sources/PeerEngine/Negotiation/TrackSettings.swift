package import Media

/// Which media is negotiated.
package struct TrackSettings: Sendable, Hashable {
  /// The kinds of media that we send in our first stream.
  package var sending: Set<MediaKind> = []
  /// The kinds of media of our second stream, our third, and so on.
  package var furtherStreams: [Set<MediaKind>] = []
  /// Whether further media sections that a participant offers are used to send as well.
  package var sendsInEverySection = false
  /// The kinds of media that we receive.
  package var receiving = Set(MediaKind.allCases)
  /// The codecs that may be negotiated, and those that we send.
  package var codecs = CodecPreferences()
  /// Whether the participant may leave it to us to turn its frames (`urn:3gpp:video-orientation`).
  package var acceptsOrientation = false

  package init(sending: Set<MediaKind> = [], receiving: Set<MediaKind> = Set(MediaKind.allCases)) {
    self.sending = sending
    self.receiving = receiving
  }

  /// Returns the settings for a participant to or from whom media flows in one direction only.
  ///
  /// - Parameters:
  ///   - sends: whether media may flow to them.
  ///   - receives: whether media may flow from them.
  func restricted(sends: Bool, receives: Bool) -> TrackSettings {
    var settings = self
    if !sends { (settings.sending, settings.furtherStreams) = ([], []) }
    if !receives { settings.receiving = [] }
    return settings
  }
}
