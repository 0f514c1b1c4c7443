package import Media

/// What applies to the connection to every participant: it travels whole from the peer to each engine.
package struct ConnectionPolicy: Sendable {
  package var ice = ICESettings()
  package var tracks = TrackSettings()
  /// How received media is ordered and sent media is paced.
  package var media = MediaSession.Configuration()
  /// The data channels; nil if we use none.
  package var dataChannels: DataChannelOptions?
  /// The injector of a deliberate fault; nil for none. Copied for each engine.
  package var faultInjector: (any FaultInjector)?

  /// - Parameter sending: the kinds of media of our first stream.
  package init(sending: Set<MediaKind> = []) { tracks.sending = sending }
}

/// Which candidates are signalled and checked, and when ICE restarts.
package struct ICESettings: Sendable {
  /// Whether candidates inside this machine or in private networks are checked.
  package var allowsLocalCandidates = true
  /// Whether the owner of the engines looks up the names of candidates.
  package var resolvesNames = false
  /// The names that participants learn instead of our addresses; nil if they learn the addresses.
  package var hostNames: HostNames?
  /// Whether candidates are signalled without the addresses that they are based on. With ``hostNames`` they always are.
  package var hidesRelatedAddresses = false
  /// Whether we restart ICE when the path is silent or a local address vanishes. Not every signalling system carries an
  /// offer during a call.
  package var restartsICE = true

  package init() {}
}

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
  /// The codecs that may be negotiated.
  package var codecs = CodecPreferences()

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
