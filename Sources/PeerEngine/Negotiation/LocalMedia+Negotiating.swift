internal import Media
internal import SDP

extension LocalMedia {
  /// What we answer to a section that the remote side offers: its ids and numbers, and of its abilities those that are
  /// ours.
  ///
  /// - Parameters:
  ///   - sending: whether there is something to send.
  ///   - receiving: whether what they send is wanted.
  init(answering remote: RemoteMedia, sending: Bool, receiving: Bool) {
    self.init(
      codec: remote.codec, payloadType: remote.payloadType,
      retransmissionPayloadType: remote.retransmissionPayloadType,
      feedback: remote.feedback.intersection(.all(for: remote.codec.kind)), extensions: remote.extensions,
      extensionDirections: remote.extensionDirections.mapValues { $0.reversed },
      direction: MediaDirection(
        sends: sending && remote.direction.receives, receives: receiving && remote.direction.sends),
      wantsToSend: sending, takesReducedSize: remote.takesReducedSize, measuresRoundTrips: remote.measuresRoundTrips,
      takesStereo: remote.takesStereo,
      streams: !receiving
        ? []
        : remote.streams.map { stream in
          let restrictions = stream.restrictions.compactMap { Self.answered($0, payloadType: remote.payloadType) }
          return RestrictionIdentifier(id: stream.id, direction: .receive, restrictions: restrictions)
        })
  }

  /// What we answer to a restriction of a stream: the payload type that we chose, a limit of RFC 8851, 5 as it is, and nothing to
  /// what is none. So an answer is no longer than what it answers needs, whatever that contains.
  private static func answered(_ restriction: String, payloadType: UInt8) -> String? {
    guard let (name, value) = restriction.cut(at: "=") else { return nil }
    switch name {
    case "pt": return "pt=\(payloadType)"
    case "max-width", "max-height", "max-fps", "max-fs", "max-br", "max-pps", "max-bpp":
      let isNumber = value.utf8.allSatisfy {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: ".")
      }
      return isNumber && (1...16).contains(value.utf8.count) ? restriction : nil
    default: return nil
    }
  }

  /// What remains of this, our offer, after the remote side's answer.
  func agreed(with remote: RemoteMedia) -> LocalMedia {
    var agreed = self
    agreed.payloadType = remote.payloadType
    agreed.retransmissionPayloadType =
      retransmissionPayloadType == nil ? nil : remote.retransmissionPayloadType
    agreed.feedback = feedback.intersection(remote.feedback)
    for known in HeaderExtension.allCases where extensions[known] != remote.extensions[known] {
      // An answer may leave an extension out, but not give it another id (RFC 8285, 6).
      agreed.extensions[known] = nil
      agreed.extensionDirections[known] = nil
    }
    if agreed.extensions.transportSequenceNumber == nil { agreed.feedback.transportWide = false }
    agreed.direction = MediaDirection(
      sends: direction.sends && remote.direction.receives, receives: direction.receives && remote.direction.sends)
    agreed.takesReducedSize = takesReducedSize && remote.takesReducedSize
    agreed.measuresRoundTrips = measuresRoundTrips && remote.measuresRoundTrips
    agreed.streams = streams.filter { stream in remote.streams.contains { $0.id == stream.id } }
    return agreed
  }

  /// What the media session needs to know.
  func negotiated(index: Int, mid: String?, remote: RemoteMedia, track: LocalTrack) -> NegotiatedMedia {
    NegotiatedMedia(
      index: index, mid: mid, codec: codec, sends: direction.sends, receives: direction.receives,
      payloadType: payloadType, retransmissionPayloadType: retransmissionPayloadType, feedback: feedback,
      extensions: extensions, remoteSources: remote.sources, remoteStreamIDs: streams.map(\.id),
      localSSRC: track.ssrc,
      localRetransmissionSSRC: retransmissionPayloadType == nil ? nil : track.retransmissionSSRC)
  }
}
