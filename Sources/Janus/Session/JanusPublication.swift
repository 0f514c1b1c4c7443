internal import Media
internal import SDP
internal import Signalling

/// What we publish, seen as a participant who receives it.
struct JanusPublication: Sendable {
  var participant: ParticipantID
  var announced: MonotonicInstant
  /// The certificate of the connection that was offered; nil before the first offer. Later offers are sent with
  /// `configure`.
  var fingerprint: String?
  /// Whether the server has answered an offer.
  var isAnswered = false
  /// Our last offer, until it is answered or refused.
  var unansweredOffer: String?

  /// A publication that ended sooner than this is not begun again.
  static let minimumAge = Duration.seconds(5)
  /// The reason of a hang-up that Janus gives when we have closed the connection (RFC 5246, 7.2.1).
  static let closedByUs = "DTLS alert"

  var announcement: SignalledParticipant {
    SignalledParticipant(participant, offerer: .local, direction: .sendOnly)
  }
}

extension JanusSession {
  /// Begins a publication. Each has an id of its own, so that the peer makes a new connection for it.
  mutating func newPublication(now: MonotonicInstant) -> SignalledParticipant {
    publicationCount &+= 1
    let id = publicationCount == 1 ? "publisher" : "publisher-\(publicationCount)"
    let publication = JanusPublication(participant: ParticipantID(id), announced: now)
    self.publication = publication
    return publication.announcement
  }

  /// Returns the publication of a session that was claimed, or a new one if the old one was not complete. An offer that
  /// may not have arrived is sent again.
  mutating func continuedPublication(
    now: MonotonicInstant, into output: inout JanusOutput
  ) -> SignalledParticipant {
    if let publication {
      if publication.isAnswered {
        if let offer = publication.unansweredOffer { publish(offer, isRepeated: true, now: now, into: &output) }
        return publication.announcement
      }
      output.events.append(.participantLeft(publication.participant, isRejoinVerified: false))
    }
    return newPublication(now: now)
  }

  /// Sends our offer: the first one, or one that restarts ICE or changes the media.
  ///
  /// - Parameter isRepeated: whether the same offer may have been lost with its connection.
  mutating func publish(
    _ sdp: String, isRepeated: Bool = false, now: MonotonicInstant, into output: inout JanusOutput
  ) {
    guard let roomHandle, let publication else { return }
    let offer = JanusDescription(type: "offer", sdp: sdp)
    let fingerprint = Self.fingerprint(in: sdp)
    guard let former = publication.fingerprint else {
      self.publication?.fingerprint = fingerprint
      var body = JanusRequest.Body("publish")
      let codecs = sentCodecs(in: sdp)
      body.audiocodec = codecs[.audio]?.properties.encodingName.lowercased()
      body.videocodec = codecs[.video]?.properties.encodingName.lowercased()
      return send(body, to: roomHandle, .publish(publication.participant), description: offer, now: now, into: &output)
    }
    guard former == fingerprint else {
      // Janus makes no new connection for what is published. When it has ended the former one, another publication begins.
      output.note("What we publish has a new connection; the former one is ended first.")
      return send(.init("unpublish"), to: roomHandle, .unpublish(publication.participant), now: now, into: &output)
    }
    self.publication?.unansweredOffer = sdp
    let participant = publication.participant
    send(
      .init("configure"), to: roomHandle,
      publication.isAnswered ? .republish(participant) : .publish(participant), description: offer,
      mustBeAcknowledged: publication.isAnswered && !isRepeated, now: now, into: &output)
  }

  /// Returns the codecs that we publish: those that our offer prefers, which are the only ones in it if the frames are of one codec.
  private func sentCodecs(in sdp: String) -> [MediaKind: Codec] {
    guard let offer = try? SessionDescription(parsing: sdp), !offer.sections.isEmpty else {
      return [.audio: configuration.audioCodec, .video: configuration.videoCodec]
    }
    return offer.preferredCodecs
  }

  /// Returns the first `a=fingerprint` of a description, or an empty text.
  private static func fingerprint(in sdp: String) -> String {
    let lines = sdp.utf8.split { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }
    return lines.first { $0.starts(with: "a=fingerprint:".utf8) }.flatMap { String($0) } ?? ""
  }

  mutating func publishingAnswered(
    _ description: JanusDescription, response: JanusRequests.Kind?, into output: inout JanusOutput
  ) {
    switch response {
    case .publish(let former), .republish(let former):
      guard former == publication?.participant else {
        return output.note("An answer to a former publication came late.")
      }
    default: break
    }
    guard let participant = publication?.participant, description.type == "answer" else {
      return ignore("The server answers an offer that we did not send.", into: &output)
    }
    publication?.isAnswered = true
    publication?.unansweredOffer = nil
    output.events.append(.message(.answer(description.sdp), from: participant))
  }

  /// Handles the refusal of a further offer: what we publish goes on over the present path.
  mutating func republishingFailed(_ error: JanusError, into output: inout JanusOutput) {
    publication?.unansweredOffer = nil
    output.warn("The server does not change what we publish: \(error)")
  }

  /// Handles the refusal of a publication: for example of its codec, or because the room is full.
  mutating func publishingFailed(_ error: JanusError, into output: inout JanusOutput) {
    output.warn("We cannot publish: \(error)")
    guard let participant = publication?.participant else { return }
    publication = nil
    output.events.append(.participantLeft(participant, isRejoinVerified: false))
    output.events.append(.rejected(reason: "The server does not let us publish: \(error)"))
  }

  /// Handles the end of the WebRTC connection on which we publish: another one is begun, unless it ended at once.
  mutating func publishingEnded(
    reason: String, now: MonotonicInstant, into output: inout JanusOutput
  ) {
    guard let former = publication else { return }
    publication = nil
    output.events.append(.participantLeft(former.participant, isRejoinVerified: false))
    let isOurs = reason == JanusPublication.closedByUs
    let reason = reason.printable(utf8Bytes: 80)
    guard now - former.announced >= JanusPublication.minimumAge else {
      if isOurs { return output.note("We have closed the connection on which we publish.") }
      let sentence = "The server ended what we publish at once (\(reason)); it is not published again."
      output.warn(sentence)
      output.events.append(.rejected(reason: sentence))
      return
    }
    output.note("The server ended what we publish (\(reason)); it is published again.")
    output.events.append(.participantJoined(newPublication(now: now)))
  }
}
