internal import SDP

/// A parsed remote offer or answer: the capabilities of each section, and which sections share a transport.
struct RemoteDescription: Sendable {
  struct Section: Sendable {
    var mediaLine: MediaLine
    var mid: String?
    var transport: RemoteTransport
    /// The direction as the remote side sees it.
    var direction: MediaDirection
    /// What the section describes, or why it is not used.
    var content: Result<RemoteContent, SectionRejection>
  }

  /// What a usable section describes.
  enum RemoteContent: Sendable {
    case media(RemoteMedia)
    case data(DataSection)
  }

  /// The usable sections that share a transport.
  struct Transport: Sendable {
    /// Their m-line indices, in the order of the bundle; without a bundle only one.
    var positions: [Int]
    var isBundle: Bool
  }

  var origin: Origin?
  var isLite: Bool
  var sections: [Section]
  var transports: [Transport]

  /// - Parameters:
  ///   - knownMids: the sections' mids, used where the description has none, as in old answers.
  ///   - codecs: what we support.
  init(
    parsing text: String, knownMids: [String?] = [], codecs: CodecPreferences = CodecPreferences()
  ) throws(NegotiationError) {
    let description: SessionDescription
    do {
      description = try SessionDescription(parsing: text)
    } catch {
      throw .notReadable(error)
    }
    origin = description.origin
    isLite = description.hasAttribute("ice-lite")

    let bundles = description.bundles.prefix(description.sections.count)
    let bundled = Set(bundles.joined())
    let common = RemoteTransport(description)
    let direction = description.direction ?? .sendAndReceive
    let allowsMixed = description.hasAttribute("extmap-allow-mixed")
    let mids = description.sections.enumerated().map { index, section in
      section.mid ?? (index < knownMids.count ? knownMids[index] : nil)
    }
    let areUsed = zip(description.sections, mids).map { section, mid in
      // Port 0 refuses a section, unless it has no port because it only exists in its bundle (RFC 9143, 6).
      section.mediaLine.port != 0
        || section.hasAttribute("bundle-only") && mid.map { bundled.contains($0) } ?? false
    }
    let own = description.sections.map { RemoteTransport($0) }
    let tags = Self.taggedSections(of: Array(bundles), mids: mids, areUsed: areUsed)
    sections = description.sections.enumerated().map { index, section in
      let tag = mids[index].flatMap { tags[$0] } ?? index
      let transport = own[tag].completed(by: own[index]).completed(by: common)
      let direction = section.direction ?? direction
      return Section(
        mediaLine: section.mediaLine, mid: mids[index], transport: transport, direction: direction,
        content: areUsed[index]
          ? Result { () throws(SectionRejection) in
            if section.mediaLine.kind == LocalSection.dataKind { return .data(try DataSection(section)) }
            return .media(
              try RemoteMedia(
                section, direction: direction, isMultiplexed: transport.isMultiplexed,
                allowsMixedExtensions: allowsMixed, codecs: codecs))
          } : .failure(.refusedByRemote))
    }
    transports = Self.transports(of: sections, bundles: Array(bundles))
  }

  /// Returns for each bundled mid the index of the section that describes the bundle's transport: the first that is used
  /// (RFC 9143, 7.1.1 and 7.3.1). It may be one that we cannot use ourselves.
  private static func taggedSections(
    of bundles: [[String]], mids: [String?], areUsed: [Bool]
  ) -> [String: Int] {
    var positions: [String: Int] = [:]
    for (index, mid) in mids.enumerated() {
      if let mid, areUsed[index], positions[mid] == nil { positions[mid] = index }
    }
    var tags: [String: Int] = [:]
    for bundle in bundles {
      guard let tag = bundle.lazy.compactMap({ positions[$0] }).first else { continue }
      for mid in bundle where tags[mid] == nil { tags[mid] = tag }
    }
    return tags
  }

  private static func transports(of sections: [Section], bundles: [[String]]) -> [Transport] {
    var positions: [String: Int] = [:]
    var unbundled: [Int] = []
    let bundled = Set(bundles.joined())
    for (index, section) in sections.enumerated() {
      guard case .success = section.content else { continue }
      if let mid = section.mid, bundled.contains(mid), positions[mid] == nil {
        positions[mid] = index
      } else {
        unbundled.append(index)
      }
    }
    // A section in two bundles belongs to the first.
    let shared = bundles.map { mids in mids.compactMap { positions.removeValue(forKey: $0) } }
    return shared.filter { !$0.isEmpty }.map { Transport(positions: $0, isBundle: true) }
      + unbundled.map { Transport(positions: [$0], isBundle: false) }
  }

  /// The media of a section; nil if it has none that can be used.
  func media(at position: Int) -> RemoteMedia? {
    if case .success(.media(let media)) = sections[position].content { media } else { nil }
  }

  /// The data channels of a section; nil if it has none that can be used.
  func data(at position: Int) -> DataSection? {
    if case .success(.data(let data)) = sections[position].content { data } else { nil }
  }

  /// Marks a section as not used, whatever it contains.
  mutating func refuse(at position: Int, because rejection: SectionRejection = .refusedByRemote) {
    sections[position].content = .failure(rejection)
    for index in transports.indices {
      transports[index].positions.removeAll { $0 == position }
    }
  }
}
