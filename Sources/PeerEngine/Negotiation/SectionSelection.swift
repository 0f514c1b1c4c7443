internal import ICE
internal import Media
internal import SDP

/// The sections of a remote description that are used: media up to a limit, and one of data channels, all on one transport.
struct SectionSelection {
  /// The maximum number of media sections that are used; more than a person shares at once.
  static let maximumSections = 16

  /// The indices of the selected sections in the order of the bundle; the first one describes the transport.
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
  ///   - rank: which sections come first if there are more than ``maximumSections``: those with the highest number, the first
  ///     among equals.
  init(
    from description: RemoteDescription, rejected: @autoclosure () -> [RejectedSection],
    rank: (Int, RemoteMedia) -> Int = { _, _ in 0 }
  ) throws(NegotiationError) {
    let options = description.transports.map { transport in
      RemoteDescription.Transport(
        positions: Self.usable(of: transport.positions, in: description, rank: rank),
        isBundle: transport.isBundle)
    }
    let kinds = options.map { option in
      Set(option.positions.map { description.sections[$0].mediaLine.kind }).count
    }
    guard let most = kinds.max(), let choice = kinds.firstIndex(of: most), let first = options[choice].positions.first
    else {
      throw .noUsableMedia(rejected())
    }
    let option = options[choice]
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

  private static func usable(
    of positions: [Int], in description: RemoteDescription, rank: (Int, RemoteMedia) -> Int
  ) -> [Int] {
    let ranked = positions.enumerated().compactMap { order, position in
      description.media(at: position).map { (rank: rank(position, $0), order: order, position: position) }
    }
    let first = ranked.sorted { ($1.rank, $0.order) < ($0.rank, $1.order) }.prefix(maximumSections)
    let chosen = Set(first.map(\.position))
    let data = positions.first { description.data(at: $0) != nil }
    return positions.filter { chosen.contains($0) || $0 == data }
  }
}
