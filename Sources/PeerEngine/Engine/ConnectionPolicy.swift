package import Media

/// What applies to the connection to every participant: it travels whole from the peer to each engine.
package struct ConnectionPolicy: Sendable {
  package var ice = ICESettings()
  package var tracks = TrackSettings()
  /// How received media is ordered and sent media is paced.
  package var media = MediaSession.Configuration()
  /// The data channels; nil if we use none.
  package var dataChannels: DataChannelOptions?
  /// What stands between the connection and the participant, in order. Copied for each engine.
  package var interceptors: [PeerInterceptor] = []

  /// - Parameter sending: the kinds of media of our first stream.
  package init(sending: Set<MediaKind> = []) { tracks.sending = sending }
}
