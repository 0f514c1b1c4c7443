internal import Media

extension NegotiatedMedia.Feedback {
  /// Every kind of feedback there is, as the value of `a=rtcp-fb`, in Chromium's order.
  private static let names: [(name: String, position: any WritableKeyPath<Self, Bool> & Sendable)] = [
    ("goog-remb", \.maximumBitrateEstimate),
    ("transport-cc", \.transportWide),
    ("ccm fir", \.fullIntraRequest),
    ("nack", \.nack),
    ("nack pli", \.pictureLossIndication),
  ]

  /// What we can do for that kind of media.
  static func all(for kind: MediaKind) -> Self {
    var feedback = Self()
    feedback.nack = true
    feedback.transportWide = true
    if kind == .video {
      feedback.pictureLossIndication = true
      feedback.fullIntraRequest = true
      feedback.maximumBitrateEstimate = true
    }
    return feedback
  }

  /// Reads the values of `a=rtcp-fb` lines (RFC 4585, 4.2); those that we do not know are skipped.
  init(parsing values: [String]) {
    self.init()
    for (name, position) in Self.names where values.contains(name) {
      self[keyPath: position] = true
    }
  }

  /// What both can do.
  func intersection(_ other: Self) -> Self {
    var both = Self()
    for (_, position) in Self.names {
      both[keyPath: position] = self[keyPath: position] && other[keyPath: position]
    }
    return both
  }

  /// The values of the `a=rtcp-fb` lines.
  var values: [String] {
    Self.names.filter { self[keyPath: $0.position] }.map(\.name)
  }
}
