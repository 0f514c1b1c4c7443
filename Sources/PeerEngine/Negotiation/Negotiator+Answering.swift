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
    var remote = try RemoteDescription(parsing: sdp)
    if isOurs(remote) { throw .ownDescription }
    if local.data == nil { remote.refuseData() }

    let choice = try SectionSelection(from: remote, rejected: remote.rejected(except: [], local: local)) {
      [sections, local] position, media in
      let isKept =
        position < sections.count && sections[position].media?.codec == media.codec
        && sections[position].mid == remote.sections[position].mid
      let track = local[media.codec.kind]
      // Prefers a section that sends to us, then the one chosen before, then one that receives from us.
      return (media.direction.sends && track.isReceived ? 4 : 0) + (isKept ? 2 : 0)
        + (media.direction.receives && track.isSent ? 1 : 0)
    }

    var agreed = remote.sections.map { LocalSection(refusing: $0) }
    var media: [NegotiatedMedia] = []
    var data: NegotiatedData?
    for position in choice.positions.sorted() {
      if let theirs = remote.data(at: position), let own = local.data {
        let ours = DataSection(answering: theirs, maximumMessageBytes: own.maximumMessageBytes)
        agreed[position].content = .data(ours)
        data = .init(ours, theirs, index: position, mid: agreed[position].mid)
      }
      guard let theirs = remote.media(at: position) else { continue }
      let track = local[theirs.codec.kind]
      let ours = LocalMedia(answering: theirs, sending: track.isSent, receiving: track.isReceived)
      agreed[position].content = .media(ours)
      media.append(ours.negotiated(index: position, mid: agreed[position].mid, remote: theirs, track: track))
    }
    isDataRefused = data == nil && (isDataRefused || sections.contains { $0.data != nil })
    for kind in MediaKind.allCases {
      // Media that the remote side stopped is not offered again, unless we have new media to send.
      let wasThere = sections.contains { $0.media?.codec.kind == kind }
      if media.contains(where: { $0.kind == kind }) {
        refusedWhenSending[kind] = nil
      } else if wasThere {
        refusedWhenSending[kind] = local[kind].isSent
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
      choice, of: remote, sections: agreed, credentials: credentials, role: role, media: media, data: data,
      rejected: remote.rejected(except: choice.positions, local: local))
    // A peer of ours that is polite has given way as well; both then agree on its offer.
    rolledBack = isPolite ? givenUp ?? stillRolledBack : nil
    let answer = write(
      agreed, bundle: bundle, credentials: credentials, setup: role == .client ? .active : .passive)
    return (answer, session)
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
    role: DTLSRole, media: [NegotiatedMedia], data: NegotiatedData?, rejected: [RejectedSection]
  ) -> NegotiatedSession {
    let isRestart = session.map { $0.remoteCredentials != choice.credentials || $0.localCredentials != credentials }
    var settled = NegotiatedSession(
      remoteUsernameFragment: choice.credentials.usernameFragment, remotePassword: choice.credentials.password,
      remoteIsLite: remote.isLite, remoteCandidates: choice.candidates, remoteFingerprints: choice.fingerprints,
      dtlsRole: role, media: media, data: data, localCredentials: credentials, isICERestart: isRestart ?? false)
    settled.rejected = rejected
    settled.leavesOutOrientation = media.contains { media in
      media.receives && remote.media(at: media.index)?.signalsOrientation == true
    }
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
