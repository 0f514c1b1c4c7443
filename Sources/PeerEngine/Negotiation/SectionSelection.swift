internal import ICE
internal import Media
internal import SDP

/// The sections of a remote description that are used: at most one of each kind of media and one of data channels, all on
/// one transport.
struct SectionSelection {
  /// The indices of the selected sections; the first one describes the transport.
  var positions: [Int]
  /// Their mids in the same order, if they are a bundle; empty for a single section outside of bundles.
  var mids: [String]
  var credentials: ICECredentials
  var fingerprints: [CertificateFingerprint]
  var setup: SetupRole?
  var candidates: [String]

  /// Selects the transport with the most kinds, the first among equals.
  ///
  /// - Parameters:
  ///   - rejected: the sections of a description of which none is used, for the error.
  ///   - preference: the priority of a section; of two of a kind, the one with the higher priority is selected, the first among
  ///     equals.
  init(
    from description: RemoteDescription, rejected: @autoclosure () -> [RejectedSection],
    preference: (Int, RemoteMedia) -> Int
  ) throws(NegotiationError) {
    let options = description.transports.map { transport in
      RemoteDescription.Transport(
        positions: Self.best(of: transport.positions, in: description, preference: preference),
        isBundle: transport.isBundle)
    }
    guard let most = options.map(\.positions.count).max(),
      let option = options.first(where: { $0.positions.count == most }),
      let first = option.positions.first
    else {
      throw .noUsableMedia(rejected())
    }
    let transport = description.sections[first].transport
    // Fingerprints before credentials: the order in which a reader would look for errors.
    let fingerprints = try transport.certificateFingerprints()
    let credentials = try transport.credentials()

    positions = option.positions
    mids = option.isBundle ? option.positions.compactMap { description.sections[$0].mid } : []
    self.credentials = credentials
    self.fingerprints = fingerprints
    setup = transport.setup
    // Some programs write a bundle's candidates into another section than the bundle's first.
    let sharing = positions.map { description.sections[$0].transport }.filter {
      $0.usernameFragment == transport.usernameFragment
    }
    candidates = sharing.first { !$0.candidates.isEmpty }?.candidates ?? []
  }

  private static func best(
    of positions: [Int], in description: RemoteDescription, preference: (Int, RemoteMedia) -> Int
  ) -> [Int] {
    var best: [MediaKind: (position: Int, value: Int)] = [:]
    var data: Int?
    for position in positions {
      if description.data(at: position) != nil { data = data ?? position }
      guard let media = description.media(at: position) else { continue }
      let value = preference(position, media)
      if let other = best[media.codec.kind], other.value >= value { continue }
      best[media.codec.kind] = (position, value)
    }
    let chosen = Set(best.values.map(\.position))
    return positions.filter { chosen.contains($0) || $0 == data }
  }
}
