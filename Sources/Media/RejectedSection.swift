/// A media section (`m=`) of an offer or answer that is not used, so that nothing flows in it, and why.
///
/// Texts that the participant wrote are bounded and printable.
public struct RejectedSection: Sendable, Hashable, CustomStringConvertible {
  /// Why a section is not used.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// The participant rejected a section of our offer (RFC 3264, 6).
    case rejectedByParticipant
    /// The participant's own offer has port 0: it uses the section no more (RFC 3264, 8.2).
    case stoppedByParticipant
    /// We support none of the codecs that the section offers.
    case noSupportedCodec
    /// Its transport protocol is not SRTP keyed by DTLS, nor SCTP over DTLS.
    case unsupportedProtocol
    /// It is neither audio, video nor data channels.
    case unsupportedKind
    /// Without `a=rtcp-mux`, RTP and RTCP would need two transports (RFC 8834, 4.5).
    case noRTCPMultiplexing
    /// As many media sections are used as we support.
    case tooManySections
    /// It does not share the transport of the sections that are used.
    case separateTransport
    /// Its data channels cannot be used: it has no SCTP port, or carries something else.
    case unusableDataChannels
    /// We use no data channels in this call.
    case dataChannelsUnused
  }

  /// The index of the m-line, from 0.
  public var index: Int
  /// `audio`, `video`, `application` or what the m-line has instead.
  public var kind: String
  public var reason: Reason
  /// What the section offers, where that is the reason: names of codecs as in `a=rtpmap`, or the transport protocol.
  public var offered: [String]
  /// What is supported instead.
  public var supported: [String]
  /// Whether media would have flowed in it: its side offered to send it and the other to receive it.
  public var isActive: Bool

  /// The maximum number of names in ``offered``, and of bytes in each.
  package static let maximumNames = 8
  package static let maximumNameBytes = 40

  /// - Parameters:
  ///   - kind: any text; it is shortened and made printable, as are the names in `offered`.
  ///   - offered: repeated names are left out.
  public init(
    index: Int, kind: String, reason: Reason, offered: [String] = [], supported: [String] = [], isActive: Bool = true
  ) {
    self.index = index
    self.kind = kind.printable(utf8Bytes: 20)
    self.reason = reason
    var names: [String] = []
    for name in offered {
      let name = name.printable(utf8Bytes: Self.maximumNameBytes)
      if !names.contains(name) { names.append(name) }
      if names.count == Self.maximumNames { break }
    }
    self.offered = names
    self.supported = supported
    self.isActive = isActive
  }

  /// Whether somebody may miss what the section would have carried: not if nothing would have flowed, if its own side stopped
  /// it, or if we were told to use no data channels.
  public var isUnexpected: Bool { isActive && reason != .stoppedByParticipant && reason != .dataChannelsUnused }

  /// One sentence: what was rejected by whom, and why.
  public var description: String {
    let place = "\(content) of section \(index)"
    return switch reason {
    case .rejectedByParticipant:
      "The participant refused our \(place)" + (offered.isEmpty ? "." : "; we offered \(Self.list(offered)).")
    case .stoppedByParticipant: "The participant stopped the \(place)."
    default: "We refused the \(place): \(cause)."
    }
  }

  /// The reason as a clause, for example `only H264 is offered, but we support VP8`.
  public var cause: String {
    switch reason {
    case .rejectedByParticipant, .stoppedByParticipant: "refused by the other side"
    case .noSupportedCodec where offered.isEmpty:
      "it offers no codec, but \(Self.list(supported)) is needed"
    case .noSupportedCodec:
      "only \(Self.list(offered)) \(offered.count == 1 ? "is" : "are") offered, but we support \(Self.list(supported))"
    case .unsupportedProtocol:
      "protocol \"\(offered.first ?? "")\" is not supported; we support \(Self.list(supported))"
    case .unsupportedKind: "\"\(kind)\" is neither audio, video nor data channels"
    case .noRTCPMultiplexing: "no rtcp-mux"
    case .tooManySections: "we support 16 media sections"
    case .separateTransport: "it is not in one BUNDLE group with the sections that are used"
    case .unusableDataChannels:
      "its data channels cannot be used, because it has no SCTP port or carries something else"
    case .dataChannelsUnused: "data channels are not used here"
    }
  }

  private var content: String {
    switch kind {
    case "audio", "video": kind
    case "application": "data channels"
    default: "content"
    }
  }

  private static func list(_ names: [String]) -> String {
    guard names.count > 1, let last = names.last else { return names.first ?? "" }
    return names.dropLast().joined(separator: ", ") + " and " + last
  }
}
