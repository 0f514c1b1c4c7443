internal import Media
internal import SDP

/// One media section of an offer or answer of ours, before it is text.
struct LocalSection: Sendable, Hashable {
  var kind: String
  var transportProtocol: String
  var mid: String?
  var content: Content

  enum Content: Sendable, Hashable {
    /// Refused, or not used any more: port 0, with one format because the line must have one.
    case refused(format: String)
    case media(LocalMedia)
  }

  init(kind: String, transportProtocol: String, mid: String?, content: Content) {
    self.kind = kind
    self.transportProtocol = transportProtocol
    self.mid = mid
    self.content = content
  }

  /// A refusal of a remote section.
  init(refusing section: RemoteDescription.Section) {
    self.init(
      kind: section.mediaLine.kind, transportProtocol: section.mediaLine.transportProtocol, mid: section.mid,
      content: .refused(format: section.mediaLine.formats.first ?? "0"))
  }

  /// What the section carries; nil if it is refused.
  var media: LocalMedia? {
    if case .media(let media) = content { media } else { nil }
  }

  /// The same section, given up.
  var refused: LocalSection {
    var section = self
    if let media { section.content = .refused(format: String(media.payloadType)) }
    return section
  }
}

/// What we say in a section that carries media.
struct LocalMedia: Sendable, Hashable {
  var codec: Codec
  var payloadType: UInt8
  var retransmissionPayloadType: UInt8?
  var feedback: NegotiatedMedia.Feedback
  var extensions: NegotiatedMedia.Extensions
  /// Which way an extension flows, seen from us, where the offer said so.
  var extensionDirections: [HeaderExtension: MediaDirection] = [:]
  var direction: MediaDirection
  /// Whether we had something to send when this was written, be it allowed by the remote side or not.
  var wantsToSend: Bool
  var takesReducedSize: Bool
  var measuresRoundTrips: Bool
  var takesStereo: Bool
  /// The simulcast streams that we receive.
  var streams: [RestrictionIdentifier] = []
}
