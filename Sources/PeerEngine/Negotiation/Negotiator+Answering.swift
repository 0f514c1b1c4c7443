internal import ICE
internal import Media
internal import SDP

extension Negotiator {
  /// Applies the remote side's offer, the first or a later one, and answers it.
  ///
  /// If we await an answer to our own offer, the polite side rolls back its offer and answers; the impolite side ignores
  /// the remote offer.
  ///
  /// - Parameter givesWay: whether our offer has been unanswered for so long that we give way although we are impolite.
  /// - Returns: The answer and the session, or nil if the offer is ignored because ours takes precedence.
  package mutating func receivedOffer(
    _ sdp: String, givesWay: Bool = false
  ) throws(NegotiationError) -> (answer: String, session: NegotiatedSession)? {
    if isAwaitingAnswer && !isPolite && !givesWay { return nil }
    var remote = try RemoteDescription(parsing: sdp, codecs: local.codecs)
    if isOurs(remote) { throw .ownDescription }
    if local.data == nil { remote.refuseData() }

    let choice = try SectionSelection(from: remote, rejected: remote.rejected(except: [], local: local)) {
      [sections, local] position, media in
      let track = local[media.kind]
      let flows = media.direction.sends && track.isReceived || media.direction.receives && track.isSent
      return (flows ? 2 : 0) + (isKept(position, of: remote, in: sections) ? 1 : 0)
    }
    let used = choice.positions.sorted()
    let numbers = number(remote, at: used)
    let ours = streams(for: used, of: remote, numbers: numbers)

    var agreed = remote.sections.map { LocalSection(refusing: $0) }
    var media: [NegotiatedMedia] = []
    var unsent: Set<MediaKind> = []
    var data: NegotiatedData?
    for position in used {
      if let theirs = remote.data(at: position), let own = local.data {
        let ours = DataSection(answering: theirs, maximumMessageBytes: own.maximumMessageBytes)
        agreed[position].content = .data(ours)
        data = .init(ours, theirs, index: position, mid: agreed[position].mid)
      }
      guard var theirs = remote.media(at: position) else { continue }
      if !local.acceptsOrientation { theirs.leaveOut(.videoOrientation) }
      let key = LocalDescription.Key(stream: ours[position] ?? 1, kind: theirs.kind)
      let track = local.track(key, using: &generator)
      let choice = FormatChoice(
        of: theirs, preferences: local.codecs, sends: track.isSent && theirs.direction.receives,
        receives: track.isReceived && theirs.direction.sends,
        kept: isKept(position, of: remote, in: sections) ? sections[position].media?.formats ?? [] : [])
      let answer = LocalMedia(
        answering: theirs, stream: key.stream, choice: choice, sending: track.isSent, receiving: track.isReceived)
      agreed[position].content = .media(answer)
      if !choice.isSendable {
        unsent.insert(theirs.kind)
        receivedOnly.insert(key)
      } else if track.isSent, theirs.direction.receives {
        receivedOnly.remove(key)
      }
      media += answer.negotiated(
        index: position, mid: agreed[position].mid, remote: theirs, numbers: numbers[position] ?? [], track: track)
    }
    isDataRefused = data == nil && (isDataRefused || sections.contains { $0.data != nil })
    let present = Set(agreed.compactMap { $0.media?.key })
    for key in local.keys {
      // Media that the remote side stopped is not offered again, unless we have new media to send.
      if present.contains(key) {
        refusedWhenSending[key] = nil
      } else if sections.contains(where: { $0.media?.key == key }) {
        refusedWhenSending[key] = local[key]?.isSent
      }
    }

    var givenUp: Offer?
    if case .haveLocalOffer(let offer) = state { givenUp = offer }
    // An ICE restart by the remote side requires one by us (RFC 8839, 4.4.1.1.1).
    let isRestart = session.map { $0.remoteCredentials != choice.credentials } ?? false
    let credentials = isRestart ? newCredentials() : local.credentials
    if isRestart { wantsICERestart = false }

    let role = answeringRole(for: choice)
    // If the remote side only repeats its offer, the answer to ours may still come.
    let stillRolledBack = isRestart ? nil : rolledBack
    let session = settle(
      choice, of: remote, sections: agreed, credentials: credentials, role: role, media: media, unsent: unsent,
      data: data, rejected: remote.rejected(except: choice.positions, local: local))
    // A peer of ours that is polite has given way as well; both then agree on its offer.
    rolledBack = isPolite ? givenUp ?? stillRolledBack : nil
    let answer = write(
      agreed, bundle: bundle, credentials: credentials, setup: role == .client ? .active : .passive)
    return (answer, session)
  }

  /// Returns whether a section of an offer was used before, with the same mid.
  private func isKept(_ position: Int, of remote: RemoteDescription, in sections: [LocalSection]) -> Bool {
    guard position < sections.count, sections[position].mid == remote.sections[position].mid,
      let media = sections[position].media
    else { return false }
    return media.kind == remote.media(at: position)?.kind
  }

  /// Numbers the streams of the remote side's tracks.
  ///
  /// - Returns: for each section, the numbers of its tracks; nil for a track that is not received.
  mutating func number(
    _ remote: RemoteDescription, at positions: [Int]
  ) -> [Int: [Int?]] {
    var tracks: [StreamNumbering.Track] = []
    for position in positions {
      guard let media = remote.media(at: position) else { continue }
      for (ordinal, track) in media.tracks.enumerated() {
        tracks.append(
          StreamNumbering.Track(
            index: position, mid: remote.sections[position].mid, ordinal: ordinal, kind: media.kind,
            trackID: track.trackID, streamID: track.streamID,
            isActive: media.direction.sends && local[media.kind].isReceived))
      }
    }
    var numbers: [Int: [Int?]] = [:]
    for (track, number) in zip(tracks, numbering.assign(tracks)) { numbers[track.index, default: []].append(number) }
    return numbers
  }

  /// Returns which of our streams each section of an offer carries: the one that it carried before, else the one with the number
  /// of the remote side's stream in it, else one that is to be sent and has no section, else the next number.
  private func streams(
    for positions: [Int], of remote: RemoteDescription, numbers: [Int: [Int?]]
  ) -> [Int: Int] {
    var streams: [Int: Int] = [:]
    for kind in MediaKind.allCases {
      let media = positions.compactMap { position in
        remote.media(at: position).flatMap { $0.kind == kind ? (position, $0) : nil }
      }
      var taken: Set<Int> = []
      func take(_ number: Int?, for position: Int) {
        guard let number, streams[position] == nil, taken.insert(number).inserted else { return }
        streams[position] = number
      }
      let kept = media.filter { isKept($0.0, of: remote, in: sections) }
      for (position, media) in kept where media.direction.receives {
        take(sections[position].media?.stream, for: position)
      }
      // Where media flows in both directions, then where we may send.
      for (position, media) in media where media.direction == .sendAndReceive {
        take(numbers[position]?.first ?? nil, for: position)
      }
      let sent = local.keys.filter { $0.kind == kind && local[$0]?.isSent == true }.map(\.stream)
      for receives in [true, false] {
        // A section that cannot receive keeps its number only if no other needs it.
        if !receives { for (position, _) in kept { take(sections[position].media?.stream, for: position) } }
        for (position, media) in media where media.direction.receives == receives && streams[position] == nil {
          take(sent.first { !taken.contains($0) && receives } ?? (1...).first { !taken.contains($0) }, for: position)
        }
      }
    }
    return streams
  }

  /// Returns our DTLS role: the one that the offer requires, else the present one, else client.
  private func answeringRole(for choice: SectionSelection) -> DTLSRole {
    switch choice.setup {
    case .active: .server
    case .passive: .client
    case .actpass, .holdconn, nil: Self.keptRole(of: session, for: choice) ?? .client
    }
  }

  /// Completes an exchange and makes its result the current state.
  mutating func settle(
    _ choice: SectionSelection, of remote: RemoteDescription, sections: [LocalSection], credentials: ICECredentials,
    role: DTLSRole, media: [NegotiatedMedia], unsent: Set<MediaKind>, data: NegotiatedData?,
    rejected: [RejectedSection]
  ) -> NegotiatedSession {
    let isRestart = session.map { $0.remoteCredentials != choice.credentials || $0.localCredentials != credentials }
    var settled = NegotiatedSession(
      remoteUsernameFragment: choice.credentials.usernameFragment, remotePassword: choice.credentials.password,
      remoteIsLite: remote.isLite, remoteCandidates: choice.candidates, remoteFingerprints: choice.fingerprints,
      dtlsRole: role, media: media, data: data, localCredentials: credentials, isICERestart: isRestart ?? false)
    settled.rejected = rejected
    settled.unacceptedCodecs = Set(unsent.compactMap { local.codecs.sent[$0] })
    self.sections = sections
    bundle = choice.mids
    local.credentials = credentials
    session = settled
    rolledBack = nil
    state = .stable
    return settled
  }
}

extension NegotiatedSession {
  var remoteCredentials: ICECredentials {
    ICECredentials(usernameFragment: remoteUsernameFragment, password: remotePassword)
  }
}

extension RemoteDescription {
  /// Refuses the section of data channels, because we use none.
  mutating func refuseData() {
    for position in sections.indices where data(at: position) != nil { refuse(at: position, because: .dataNotWanted) }
  }
}

extension NegotiatedData {
  init(_ ours: DataSection, _ theirs: DataSection, index: Int, mid: String?) {
    self.init(
      index: index, mid: mid, localPort: ours.port, remotePort: theirs.port,
      remoteMaximumMessageBytes: theirs.maximumMessageBytes)
  }
}
