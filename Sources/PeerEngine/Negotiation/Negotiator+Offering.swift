internal import ICE
internal import Media
internal import SDP

extension Negotiator {
  /// Writes an offer and awaits its answer. Called again while it awaits the answer, it writes an updated offer.
  package mutating func createOffer() -> String {
    let credentials: ICECredentials
    if case .haveLocalOffer(let offer) = state, offer.credentials != local.credentials {
      credentials = offer.credentials
    } else {
      credentials = wantsICERestart ? newCredentials() : local.credentials
    }
    rolledBack = nil
    let sections = offeredSections()
    let mids = sections.filter(\.isUsed).compactMap(\.mid)
    let offer = Offer(
      sections: sections, bundle: bundle.filter(mids.contains) + mids.filter { !bundle.contains($0) },
      credentials: credentials, previous: session)
    state = .haveLocalOffer(offer)
    return write(offer.sections, bundle: offer.bundle, credentials: credentials, setup: .actpass)
  }

  /// Returns the agreed sections with the directions that we want now, and a new one for each track that has none.
  private func offeredSections() -> [LocalSection] {
    var offered = sections.map { section in
      guard var media = section.media else { return section }
      let track = local[media.key] ?? local[media.kind]
      media.wantsToSend = track.isSent
      let sends = track.isSent && !receivedOnly.contains(media.key)
      media.direction = MediaDirection(sends: sends, receives: track.isReceived)
      media.extensionDirections = [:]
      if sends, !canSend(in: media) {
        // What was agreed when we sent nothing is not what we send now.
        let formats = newFormats(of: media.kind, isSent: true, beside: sections.compactMap(\.media))
        if !formats.isEmpty { (media.formats, media.redundancy) = (formats, nil) }
      }
      var section = section
      section.content = .media(media)
      return section
    }
    for key in local.keys where mayAdd(key) && (key.stream == 1 || local[key]?.isSent == true) {
      guard offered.count(where: { $0.media != nil }) < SectionSelection.maximumSections,
        let media = newMedia(key, beside: offered)
      else { continue }
      let section = LocalSection(
        kind: key.kind.rawValue, transportProtocol: RemoteMedia.usualProtocol, mid: Self.freeMid(in: offered),
        content: .media(media))
      // A refused section's index may be reused under a new mid (RFC 8829, 5.2.2).
      if let position = offered.firstIndex(where: { !$0.isUsed && $0.kind == key.kind.rawValue }) {
        offered[position] = section
      } else {
        offered.append(section)
      }
    }
    if mayAddData, let data = local.data {
      let section = LocalSection(
        kind: LocalSection.dataKind, transportProtocol: DataSection.transportProtocol, mid: Self.freeMid(in: offered),
        content: .data(DataSection(maximumMessageBytes: data.maximumMessageBytes)))
      if let position = offered.firstIndex(where: { !$0.isUsed && $0.kind == LocalSection.dataKind }) {
        offered[position] = section
      } else {
        offered.append(section)
      }
    }
    return offered
  }

  /// Returns whether our offer may have a new section for a track: there is none, and the remote side has either never
  /// refused one, or may be asked again because we have media to send that we did not have then.
  func mayAdd(_ key: LocalDescription.Key) -> Bool {
    let hasSection = sections.contains { $0.media?.key == key }
    if hasSection || !canBundle || sections.count(where: { $0.media != nil }) >= SectionSelection.maximumSections {
      return false
    }
    guard let wanted = refusedWhenSending[key] else { return true }
    return local[key]?.isSent == true && !wanted
  }

  /// Returns whether our offer may have a new section for data channels: there is none, and the remote side has never
  /// refused one.
  var mayAddData: Bool {
    local.data?.isOffered == true && !isDataRefused && canBundle && !sections.contains { $0.data != nil }
  }

  /// Whether a new section can be in a bundle with the agreed ones: a remote side that sends no mids cannot bundle.
  private var canBundle: Bool { sections.allSatisfy { !$0.isUsed || $0.mid != nil } }

  /// Returns whether we can send our source's frames in a section.
  private func canSend(in media: LocalMedia) -> Bool {
    guard let sent = local.codecs.sent[media.kind] else { return true }
    return media.formats.contains { $0.codec == sent && local.codecs.canSend($0) }
  }

  /// The payload types that sections use.
  private static func payloadTypes(of sections: [LocalMedia]) -> Set<UInt8> {
    Set(sections.flatMap(\.payloadTypes))
  }

  /// Returns the formats of a section that we offer, the preferred one first; none if no codec of the kind may be negotiated.
  ///
  /// - Parameters:
  ///   - isSent: whether we send in it: then its formats are those of our source, if that has one codec.
  ///   - others: the other sections. In a bundle, a payload type has one meaning (RFC 9143, 9.1): a format keeps those that it has
  ///     in another section.
  private func newFormats(of kind: MediaKind, isSent: Bool, beside others: [LocalMedia]) -> [MediaFormat] {
    var known = others.flatMap(\.formats)
    var takenTypes = Self.payloadTypes(of: others)
    func payloadType(_ usual: UInt8) -> UInt8 {
      let chosen = Self.freePayloadType(usual, besides: takenTypes)
      takenTypes.insert(chosen)
      return chosen
    }
    let codecs = local.codecs[kind]
    var formats = codecs.flatMap(\.offeredFormats)
    if isSent, let sent = local.codecs.sent[kind], codecs.contains(sent) {
      formats = formats.filter { $0.codec == sent && local.codecs.canSend($0) }
    }
    return formats.map { usual in
      if var same = known.first(where: { $0.isSame(as: usual) }) {
        same.parameterSets = []
        return same
      }
      var format = usual
      format.payloadType = payloadType(usual.payloadType)
      format.retransmissionPayloadType = usual.retransmissionPayloadType.map(payloadType)
      known.append(format)
      return format
    }
  }

  /// Returns the usual payload type if it is free, else a dynamic one that is.
  private static func freePayloadType(_ usual: UInt8, besides taken: Set<UInt8>) -> UInt8 {
    guard taken.contains(usual) else { return usual }
    return (96...127).first { !taken.contains($0) } ?? usual
  }

  /// Returns the format of RED in a section that we offer: it repeats the first format that can be repeated.
  private func newRedundancy(for formats: [MediaFormat], beside others: [LocalMedia]) -> RedundancyFormat? {
    guard local.codecs.acceptsRedundantAudio else { return nil }
    let first = formats.lazy.compactMap { format in
      format.codec.properties.redundancyPayloadType.map { (format: format, payloadType: $0) }
    }.first
    guard let (format, usual) = first else { return nil }
    let known = others.lazy.compactMap(\.redundancy).first { $0.blockPayloadType == format.payloadType }
    let taken = Self.payloadTypes(of: others).union(formats.flatMap(\.payloadTypes))
    return known
      ?? RedundancyFormat(
        payloadType: Self.freePayloadType(usual, besides: taken),
        blockPayloadType: format.payloadType)
  }

  /// Returns the media of a new section; nil if no codec of its kind may be negotiated.
  private func newMedia(_ key: LocalDescription.Key, beside sections: [LocalSection]) -> LocalMedia? {
    let kind = key.kind
    let others = sections.compactMap(\.media)
    var extensions = NegotiatedMedia.Extensions()
    // In a bundle an id has one meaning (RFC 8285, 5), so an extension that has an id in another section keeps it.
    var ids: [HeaderExtension: UInt8] = [:]
    for other in others {
      for known in HeaderExtension.allCases {
        if let id = other.extensions[known] { ids[known] = id }
      }
    }
    for known in HeaderExtension.allCases where known.isMeant(for: kind) {
      if known == .videoOrientation, !local.acceptsOrientation { continue }
      let isFree = { (id: UInt8) in !ids.values.contains(id) }
      let id = ids[known] ?? (isFree(known.usualID) ? known.usualID : (1...14).first(where: isFree))
      ids[known] = id
      extensions[known] = id
    }

    guard let track = local[key] else { return nil }
    let formats = newFormats(of: kind, isSent: track.isSent, beside: others)
    if formats.isEmpty { return nil }
    return LocalMedia(
      formats: formats, redundancy: track.isReceived ? newRedundancy(for: formats, beside: others) : nil,
      stream: key.stream, extensions: extensions,
      direction: MediaDirection(sends: track.isSent, receives: track.isReceived),
      wantsToSend: track.isSent, supportsReducedSizeRTCP: true, supportsRRTR: true, allowsMixedExtensions: true,
      // The answerer may have two channels to send.
      acceptsStereo: kind == .audio && track.isReceived)
  }

  /// Returns the smallest number that is not a mid yet.
  private static func freeMid(in sections: [LocalSection]) -> String {
    let taken = Set(sections.compactMap(\.mid))
    var number = 0
    while taken.contains("\(number)") { number += 1 }
    return "\(number)"
  }

  /// Applies the answer to our offer.
  ///
  /// - Returns: The session, or nil if the answer is ignored: none is awaited, or it is an offer.
  package mutating func receivedAnswer(_ sdp: String) throws(NegotiationError) -> NegotiatedSession? {
    if case .haveLocalOffer(let offer) = state { return try received(answer: sdp, to: offer) }
    // After a clash of offers, a peer that rolled back as we did answers the offer that we rolled back, and cannot use our
    // answer to its own. Then both agree on ours.
    guard let offer = rolledBack else { return nil }
    return try? received(answer: sdp, to: offer)
  }

  private mutating func received(answer sdp: String, to offer: Offer) throws(NegotiationError) -> NegotiatedSession? {
    let remote = try RemoteDescription(
      parsing: sdp, knownMids: offer.sections.map(\.mid), codecs: local.codecs)
    // Only an offer leaves the choice of roles open (RFC 8842, 5.2).
    if isOurs(remote) { throw .ownDescription }
    if remote.sections.contains(where: { $0.transport.setup == .actpass }) { return nil }
    try Self.check(remote, answers: offer)

    var answered = remote
    for (index, section) in offer.sections.enumerated() where !section.isUsed {
      answered.refuse(at: index)
    }
    if local.data == nil { answered.refuseData() }
    let choice = try SectionSelection(from: answered, rejected: rejected(in: answered, of: offer, used: []))
    let used = choice.positions.sorted()
    let numbers = number(answered, at: used)

    var agreed = offer.sections.map(\.refused)
    var media: [NegotiatedMedia] = []
    var unsent: Set<MediaKind> = []
    var data: NegotiatedData?
    for position in used {
      if let ours = offer.sections[position].data, let theirs = answered.data(at: position) {
        agreed[position].content = .data(ours)
        data = .init(ours, theirs, index: position, mid: agreed[position].mid)
      }
      guard let ours = offer.sections[position].media, let theirs = answered.media(at: position) else { continue }
      let both = ours.agreed(
        with: theirs, sending: ours.direction.sends ? local.codecs.sent[theirs.kind] : nil, local.codecs)
      agreed[position].content = .media(both)
      if ours.direction.sends, theirs.direction.receives, !canSend(in: both) {
        unsent.insert(theirs.kind)
        receivedOnly.insert(both.key)
      }
      media += both.negotiated(
        index: position, mid: agreed[position].mid, remote: theirs, numbers: numbers[position] ?? [],
        track: local[both.key] ?? local[both.kind])
    }
    if offer.sections.contains(where: { $0.data != nil }) { isDataRefused = data == nil }
    for case let ours? in offer.sections.map(\.media) {
      let isAgreed = agreed.contains { $0.media?.key == ours.key }
      refusedWhenSending[ours.key] = isAgreed ? nil : ours.wantsToSend
      // Everybody has the preferred codec, so a section without it is likely to be refused for its codec.
      if !isAgreed, ours.direction.sends, let sent = local.codecs.sent[ours.kind], sent != .preferred(for: ours.kind) {
        unsent.insert(ours.kind)
      }
    }

    // An answer without a role is passive (RFC 4145, 4.1).
    let chosen: DTLSRole = choice.setup == .active ? .server : .client
    let role = Self.keptRole(of: offer.previous, for: choice) ?? chosen
    if offer.credentials != local.credentials { wantsICERestart = false }
    // A peer that keeps its credentials has not restarted ICE, although it should (RFC 8839, 4.4.1.1.1), and goes on with
    // our former ones, as aiortc does. A lite agent sends no checks.
    let hasNotRestarted = offer.previous.map { previous in
      previous.localCredentials != offer.credentials && previous.remoteCredentials == choice.credentials
    }
    let keepsCredentials = !remote.isLite && hasNotRestarted ?? false
    return settle(
      choice, of: remote, sections: agreed, credentials: keepsCredentials ? local.credentials : offer.credentials,
      role: role, media: media, unsent: unsent, data: data,
      rejected: rejected(in: answered, of: offer, used: choice.positions))
  }

  /// Returns the sections of our offer that are not used after the answer.
  private func rejected(in answer: RemoteDescription, of offer: Offer, used: [Int]) -> [RejectedSection] {
    answer.rejected(except: used, local: local).compactMap { rejected in
      let ours = offer.sections[rejected.index]
      guard ours.isUsed else { return nil }
      guard rejected.reason == .stoppedByParticipant else { return rejected }
      return RejectedSection(
        index: rejected.index, kind: rejected.kind, reason: .rejectedByParticipant,
        offered: ours.media.map { $0.formats.map(\.codec.encodingName) } ?? [],
        isActive: ours.media.map { $0.direction != .inactive } ?? true)
    }
  }

  /// Checks that the answer has the offer's sections in the same order.
  private static func check(_ remote: RemoteDescription, answers offer: Offer) throws(NegotiationError) {
    guard remote.sections.count == offer.sections.count else {
      throw .sectionCountDiffers(offered: offer.sections.count, answered: remote.sections.count)
    }
    for (index, (theirs, ours)) in zip(remote.sections, offer.sections).enumerated() where theirs.mediaLine.port != 0 {
      guard theirs.mediaLine.kind == ours.kind, theirs.mid == ours.mid else {
        throw .sectionDiffers(
          index: index, offered: Self.name(ours.kind, ours.mid), answered: Self.name(theirs.mediaLine.kind, theirs.mid))
      }
    }
  }

  private static func name(_ kind: String, _ mid: String?) -> String {
    mid.map { "\(kind) with mid \"\($0)\"" } ?? "\(kind) without a mid"
  }
}
