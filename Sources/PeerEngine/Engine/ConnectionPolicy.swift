package import ICE
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
