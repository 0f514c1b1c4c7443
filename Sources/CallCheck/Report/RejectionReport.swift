package import Media

/// A media section of the call with a peer that one side rejected.
public struct RejectionReport: Sendable, Hashable, Codable {
  /// The index of the m-line, from 0.
  public var section: Int
  /// `audio`, `video`, `application` or what the m-line has instead.
  public var kind: String
  /// Why, a case of `RejectedSection.Reason`.
  public var reason: String
  /// The codecs, or the protocol, that were offered; empty if they are not the reason.
  public var offered: [String]
  /// What is supported instead.
  public var supported: [String]
  /// One sentence: what was rejected by whom, and why.
  public var sentence: String

  package init(_ rejected: RejectedSection) {
    section = rejected.index
    kind = rejected.kind
    reason = rejected.reason.rawValue
    offered = rejected.offered
    supported = rejected.supported
    sentence = rejected.description
  }

  /// Whether it explains why there is no media of its kind: not if another section of the kind is used.
  var isOfWholeKind: Bool { reason != RejectedSection.Reason.tooManySections.rawValue }

  /// Whether we support nothing of what was offered, so that only another offer can bring media.
  var isUnsupported: Bool {
    [RejectedSection.Reason.noSupportedCodec, .unsupportedProtocol].map(\.rawValue).contains(reason)
  }

  /// Why there is no media of this kind, as a clause without the number of the section.
  var clause: String {
    guard reason != RejectedSection.Reason.rejectedByParticipant.rawValue else { return sentence.asClause }
    return sentence.replacing(" of section \(section)", with: "").asClause
  }
}
