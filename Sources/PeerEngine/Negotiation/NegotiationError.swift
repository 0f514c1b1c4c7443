package import Media
package import SDP

/// Why a remote offer or answer cannot be used. The negotiator's state is unchanged.
package enum NegotiationError: Error, Sendable, Hashable, CustomStringConvertible {
  case notReadable(SessionDescription.ParseError)
  /// Our own description was sent back to us.
  case ownDescription
  case noFingerprint
  /// Only hashes that cannot be checked, or malformed digests.
  case noUsableFingerprint(given: [String])
  case noICECredentials
  /// The lengths of user fragment and password in characters, outside 4 to 256 and 22 to 256 (RFC 8839, 5.4).
  case badICECredentials(usernameFragmentLength: Int, passwordLength: Int)
  /// One of them has a character other than a letter, a digit, `+` or `/` (RFC 8839, 5.4).
  case badICECharacters
  /// No media section is usable; with the reason for each.
  case noUsableMedia([RejectedSection])
  case sectionCountDiffers(offered: Int, answered: Int)
  /// The answer's section at that index, counted from 0, is not the offered one.
  case sectionDiffers(index: Int, offered: String, answered: String)

  package var description: String {
    switch self {
    case .notReadable(let error):
      error.description
    case .ownDescription:
      "The SDP is our own, with our ICE user fragment and our fingerprint: the other side, or the server, has sent it back."
    case .noFingerprint:
      "The SDP has no a=fingerprint line, so the other side's certificate could not be checked."
    case .noUsableFingerprint(let given):
      "The SDP's fingerprint (\(Self.list(given))) cannot be checked; only SHA-1 and SHA-2 are supported."
    case .noICECredentials:
      "The SDP has no a=ice-ufrag or no a=ice-pwd line, so no connection can be made."
    case .badICECredentials(let fragment, let password):
      "The SDP's ice-ufrag has \(fragment) characters and its ice-pwd \(password); 4 to 256 and 22 to 256 are allowed."
    case .badICECharacters:
      "The SDP's ice-ufrag or ice-pwd has other characters than letters, digits and +, /, -, _, =, #."
    case .noUsableMedia([]):
      "The SDP has no media section."
    case .noUsableMedia(let reasons):
      "The SDP has no media that can be used: "
        + Self.list(reasons.map { "section \($0.index): \($0.cause)" }) + "."
    case .sectionCountDiffers(let offered, let answered):
      "The answer has \(answered) media sections, but the offer had \(offered)."
    case .sectionDiffers(let index, let offered, let answered):
      "Section \(index) of the answer is \(answered.prefix(40)), but \(offered) was offered."
    }
  }

  /// Returns the first few items, and how many more there are.
  private static func list(_ items: [String]) -> String {
    let shown = items.prefix(6).joined(separator: "; ")
    return items.count > 6 ? "\(shown); and \(items.count - 6) more" : shown
  }
}

/// Why a section of a remote description is not used.
enum SectionRejection: Error, Sendable, Hashable {
  /// The remote side itself set the port to 0.
  case refusedByRemote
  case notAudioOrVideo
  case unknownProtocol(String, supported: String)
  /// A data channel section whose SCTP port is missing or 0.
  case noSCTPPort
  /// A section over SCTP for something else than data channels.
  case noDataChannels
  /// We use no data channels in this call.
  case dataNotWanted
  /// Without rtcp-mux, RTP and RTCP would need two transports (RFC 8834, 4.5).
  case noRTCPMultiplexing
  /// The section has no codec that we support for this kind of media.
  case noKnownCodec(offered: [String], supported: [Codec])
}

extension RejectedSection {
  /// Describes a section of a remote offer that we reject.
  init(_ rejection: SectionRejection, index: Int, kind: String) {
    var offered: [String] = []
    var supported: [String] = []
    let reason: Reason
    switch rejection {
    case .refusedByRemote: reason = .stoppedByParticipant
    case .notAudioOrVideo: reason = .unsupportedKind
    case .unknownProtocol(let name, let known):
      reason = .unsupportedProtocol
      (offered, supported) = ([name], [known])
    case .noSCTPPort, .noDataChannels: reason = .unusableDataChannels
    case .dataNotWanted: reason = .dataChannelsUnused
    case .noRTCPMultiplexing: reason = .noRTCPMultiplexing
    case .noKnownCodec(let names, let codecs):
      reason = .noSupportedCodec
      (offered, supported) = (names, codecs.map(\.encodingName))
    }
    self.init(index: index, kind: kind, reason: reason, offered: offered, supported: supported)
  }
}

extension RemoteDescription {
  /// Returns the sections that are not used, and why.
  ///
  /// - Parameters:
  ///   - used: the indices of the sections that are used.
  ///   - local: our side, which determines where media would have flowed.
  func rejected(except used: [Int], local: LocalDescription) -> [RejectedSection] {
    sections.indices.filter { !used.contains($0) }.map { index in
      let section = sections[index]
      let kind = section.mediaLine.kind
      var rejected =
        switch section.content {
        case .failure(let rejection): RejectedSection(rejection, index: index, kind: kind)
        case .success:
          RejectedSection(
            index: index, kind: kind,
            reason: used.count >= SectionSelection.maximumSections ? .tooManySections : .separateTransport)
        }
      if let track = MediaKind(rawValue: kind).map({ local[$0] }) {
        rejected.isActive =
          section.direction.sends && track.isReceived || section.direction.receives && track.isSent
      }
      return rejected
    }
  }
}
