/// Finds the media section of a packet: by its SSRC if that is known, else by the mid in its header, else by its payload
/// type if only one section uses that (RFC 9143, 9.2).
///
/// The section and rid of a source are remembered, since senders stop sending mid and rid after a while.
package struct StreamRouter: Sendable {
  /// The role of a packet in its section.
  package struct Route: Sendable, Hashable {
    /// The ``NegotiatedMedia/trackKey`` of the track.
    package var track: Int
    /// The payload type of the media in the packet: in a retransmission that of what it repeats, in RED that of the blocks.
    package var payloadType: UInt8
    /// Whether it is a packet of RED, which may repeat earlier frames (RFC 2198).
    package var isRedundant = false
    /// Whether it is a retransmission of another source's packet (RFC 4588).
    package var isRetransmission: Bool
    /// The SSRC that a retransmission stream repairs, if the SDP states it.
    package var repairs: UInt32?
    /// The rid of a simulcast stream, or the repaired rid of its retransmissions (RFC 8852).
    package var streamID: String?

    package init(
      track: Int, payloadType: UInt8, isRetransmission: Bool, repairs: UInt32? = nil, streamID: String? = nil
    ) {
      self.track = track
      self.payloadType = payloadType
      self.isRetransmission = isRetransmission
      self.repairs = repairs
      self.streamID = streamID
    }
  }

  /// The identifiers in a packet's header extensions.
  package struct Identifiers: Sendable {
    package var mid: String?
    package var streamID: String?
    package var repairedStreamID: String?

    package init(mid: String? = nil, streamID: String? = nil, repairedStreamID: String? = nil) {
      self.mid = mid
      self.streamID = streamID
      self.repairedStreamID = repairedStreamID
    }
  }

  private struct Binding: Sendable {
    var ssrc: UInt32
    var route: Route
    /// The payload type of its last packet; nil before the first, and when its section is gone.
    var payloadType: UInt8?
    var isAnnounced: Bool
  }

  private static let maximumLearned = 32

  private var media: [NegotiatedMedia] = []
  /// Few, so that a linear search is fastest.
  private var bindings: [Binding] = []

  package init() {}

  /// Applies the sections of a new negotiation. Learned sources keep their section while it exists.
  package mutating func configure(_ media: [NegotiatedMedia]) {
    self.media = media.filter(\.receives)
    let learned = bindings.filter { binding in
      !binding.isAnnounced && self.media.contains { $0.trackKey == binding.route.track }
    }
    bindings = []
    for section in self.media {
      for source in section.remoteSources {
        let (track, type) = (section.trackKey, section.payloadType)
        announce(source.ssrc, Route(track: track, payloadType: type, isRetransmission: false))
        if let repair = source.retransmissionSSRC {
          announce(repair, Route(track: track, payloadType: type, isRetransmission: true, repairs: source.ssrc))
        }
      }
    }
    for var binding in learned where !bindings.contains(where: { $0.ssrc == binding.ssrc }) {
      binding.payloadType = nil
      bindings.append(binding)
    }
  }

  /// Returns the route of a packet, or nil if it belongs to no section.
  ///
  /// - Parameter identifiers: reads the header extensions; called only for an unknown source.
  package mutating func route(ssrc: UInt32, payloadType: UInt8, identifiers: () -> Identifiers) -> Route? {
    for position in bindings.indices
    where bindings[position].ssrc == ssrc && bindings[position].payloadType == payloadType {
      return bindings[position].route
    }
    for position in bindings.indices where bindings[position].ssrc == ssrc {
      // A known source may use another format of its section.
      guard let route = route(of: bindings[position], payloadType: payloadType) else { continue }
      bindings[position].payloadType = payloadType
      bindings[position].route = route
      return route
    }
    guard let route = learn(payloadType: payloadType, identifiers: identifiers()) else { return nil }
    bindings.removeAll { $0.ssrc == ssrc }
    if bindings.count(where: { !$0.isAnnounced }) >= Self.maximumLearned,
      let oldest = bindings.firstIndex(where: { !$0.isAnnounced })
    {
      bindings.remove(at: oldest)
    }
    bindings.append(Binding(ssrc: ssrc, route: route, payloadType: payloadType, isAnnounced: false))
    return route
  }

  /// Returns the ``NegotiatedMedia/trackKey`` of a known source.
  package func track(of ssrc: UInt32) -> Int? {
    bindings.first { $0.ssrc == ssrc && !$0.route.isRetransmission }?.route.track
  }

  /// Removes a source that sent a BYE; its SSRC may be used for anything later.
  package mutating func forget(_ ssrc: UInt32) {
    bindings.removeAll { $0.ssrc == ssrc && !$0.isAnnounced }
  }

  private mutating func announce(_ ssrc: UInt32, _ route: Route) {
    if !bindings.contains(where: { $0.ssrc == ssrc }) {
      bindings.append(
        Binding(ssrc: ssrc, route: route, payloadType: nil, isAnnounced: true))
    }
  }

  /// Returns the route of a known source's packet; nil if the payload type is not of its section, or has another role.
  private func route(of binding: Binding, payloadType: UInt8) -> Route? {
    guard let section = media.first(where: { $0.trackKey == binding.route.track }),
      let format = section.format(of: payloadType)
    else { return nil }
    guard binding.route.isRetransmission == format.isRetransmission(payloadType) else { return nil }
    var route = binding.route
    route.payloadType = format.payloadType
    route.isRedundant = payloadType == section.redundancyPayloadType
    return route
  }

  private func learn(payloadType: UInt8, identifiers: Identifiers) -> Route? {
    // Only announced sources belong to further tracks of a section.
    let candidates = media.filter { $0.ordinal == 0 && $0.format(of: payloadType) != nil }
    let section: NegotiatedMedia?
    if let mid = identifiers.mid {
      section = candidates.first { $0.mid == mid }
    } else {
      section = candidates.count == 1 ? candidates.first : nil
    }
    guard let section, let format = section.format(of: payloadType) else { return nil }
    let isRetransmission = format.isRetransmission(payloadType)
    var route = Route(
      track: section.trackKey, payloadType: format.payloadType, isRetransmission: isRetransmission,
      streamID: isRetransmission ? identifiers.repairedStreamID ?? identifiers.streamID : identifiers.streamID)
    route.isRedundant = payloadType == section.redundancyPayloadType
    return route
  }
}
