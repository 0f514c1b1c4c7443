internal import ICE
internal import PeerEngine

extension Peer.Configuration {
  /// Returns what applies to the connection to every participant.
  ///
  /// - Parameter hostNames: the names that participants learn instead of our addresses; nil if they learn the addresses.
  func policy(hostNames: HostNames?) -> ConnectionPolicy {
    var policy = ConnectionPolicy()
    policy.tracks.sending = sending
    policy.tracks.furtherStreams = furtherStreams
    policy.tracks.sendsInEverySection = sendsInEverySection
    policy.tracks.receiving = receiving
    policy.tracks.codecs = CodecPreferences(audio: audioCodecs, video: videoCodecs)
    policy.tracks.codecs.sent = sendingCodecs
    policy.tracks.codecs.answersWithEachCodec = answersWithEachCodec
    policy.tracks.codecs.sendsEachProfile = isForwarding
    policy.tracks.codecs.acceptsRedundantAudio = acceptsRedundantAudio
    policy.ice.allowsLocalCandidates = allowsLocalCandidates
    policy.ice.resolvesNames = resolvesLocalNames && iceTransportPolicy == .all
    policy.ice.hostNames = hostNames
    policy.ice.hidesRelatedAddresses = iceTransportPolicy == .relay
    policy.ice.restartsICE = restartsICE
    policy.media = MediaSession.Configuration(keyframeResponse: keyframeResponse, isForwarding: isForwarding)
    policy.media.receiving.startDelay = initialReorderingDelay
    policy.media.congestion.minimumBitrate = Double(minimumSendBitrate)
    policy.media.congestion.maximumBitrate = Double(maximumSendBitrate)
    policy.dataChannels = dataChannels
    policy.interceptors = interceptors
    return policy
  }
}
