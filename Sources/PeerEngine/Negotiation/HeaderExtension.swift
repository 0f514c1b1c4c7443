internal import Media

/// The supported RTP header extensions, in the order of our offers.
///
/// ``videoOrientation`` is negotiated with media servers only, which forward the frames that they receive as they are. Another sender
/// that cannot signal the orientation rotates the frame before it encodes it (3GPP TS 26.114, 7.4.5), and then every player shows a
/// phone's video upright.
enum HeaderExtension: CaseIterable, Sendable {
  case audioLevel
  case absoluteSendTime
  case transportSequenceNumber
  case mid
  case streamID
  case repairedStreamID
  case dependencyDescriptor
  case videoOrientation

  /// The URI in `a=extmap` (RFC 8285, 8).
  var uri: String {
    switch self {
    case .audioLevel: "urn:ietf:params:rtp-hdrext:ssrc-audio-level"
    case .absoluteSendTime: "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time"
    case .transportSequenceNumber:
      "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
    case .mid: "urn:ietf:params:rtp-hdrext:sdes:mid"
    case .streamID: "urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id"
    case .repairedStreamID: "urn:ietf:params:rtp-hdrext:sdes:repaired-rtp-stream-id"
    case .dependencyDescriptor:
      "https://aomediacodec.github.io/av1-rtp-spec/#dependency-descriptor-rtp-header-extension"
    case .videoOrientation: "urn:3gpp:video-orientation"
    }
  }

  /// The id in our offers, unless it is taken already: the one that Chromium uses.
  var usualID: UInt8 {
    switch self {
    case .audioLevel: 1
    case .absoluteSendTime: 2
    case .transportSequenceNumber: 3
    case .mid: 4
    case .streamID: 10
    case .repairedStreamID: 11
    case .dependencyDescriptor: 12
    case .videoOrientation: 13
    }
  }

  /// Returns whether the extension applies to a kind of media.
  func isMeant(for kind: MediaKind) -> Bool {
    switch self {
    case .audioLevel: kind == .audio
    case .absoluteSendTime, .transportSequenceNumber, .mid: true
    case .streamID, .repairedStreamID, .dependencyDescriptor, .videoOrientation: kind == .video
    }
  }
}

extension NegotiatedMedia.Extensions {
  subscript(extension: HeaderExtension) -> UInt8? {
    get {
      switch `extension` {
      case .audioLevel: audioLevel
      case .absoluteSendTime: absoluteSendTime
      case .transportSequenceNumber: transportSequenceNumber
      case .mid: mid
      case .streamID: streamID
      case .repairedStreamID: repairedStreamID
      case .dependencyDescriptor: dependencyDescriptor
      case .videoOrientation: videoOrientation
      }
    }
    set {
      switch `extension` {
      case .audioLevel: audioLevel = newValue
      case .absoluteSendTime: absoluteSendTime = newValue
      case .transportSequenceNumber: transportSequenceNumber = newValue
      case .mid: mid = newValue
      case .streamID: streamID = newValue
      case .repairedStreamID: repairedStreamID = newValue
      case .dependencyDescriptor: dependencyDescriptor = newValue
      case .videoOrientation: videoOrientation = newValue
      }
    }
  }
}
