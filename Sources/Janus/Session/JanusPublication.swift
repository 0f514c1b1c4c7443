internal import Media
internal import Signalling

/// What we publish, seen as a participant who receives it.
struct JanusPublication: Sendable {
  var participant: ParticipantID
  var announced: ContinuousClock.Instant
  /// Whether an offer was sent; later ones are sent with `configure`.
  var isOffered = false
  /// Whether the server has answered our last offer.
  var isAnswered = false

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
  mutating func newPublication(now: ContinuousClock.Instant) -> SignalledParticipant {
    publicationCount &+= 1
    let id = publicationCount == 1 ? "publisher" : "publisher-\(publicationCount)"
    let publication = JanusPublication(participant: ParticipantID(id), announced: now)
    self.publication = publication
    return publication.announcement
  }

  /// Returns the publication of a session that was claimed, or a new one if the old one was not complete.
  mutating func continuedPublication(
    now: ContinuousClock.Instant, into output: inout JanusOutput
  ) -> SignalledParticipant {
    if let publication {
      if publication.isAnswered { return publication.announcement }
      output.events.append(.participantLeft(publication.participant, isRejoinVerified: false))
    }
    return newPublication(now: now)
  }

  /// Sends our offer.
  mutating func publish(_ sdp: String, now: ContinuousClock.Instant, into output: inout JanusOutput) {
    guard let roomHandle, var publication else { return }
    var body = JanusRequest.Body(publication.isOffered ? "configure" : "publish")
    if !publication.isOffered {
      body.audiocodec = "opus"
      body.videocodec = "vp8"
    }
    publication.isOffered = true
    publication.isAnswered = false
    self.publication = publication
    send(body, to: roomHandle, .publish, description: .init(type: "offer", sdp: sdp), now: now, into: &output)
  }

  mutating func publishingAnswered(_ description: JanusDescription, into output: inout JanusOutput) {
    guard let participant = publication?.participant, description.type == "answer" else {
      return ignore("The server answers an offer that we did not send.", into: &output)
    }
    publication?.isAnswered = true
    output.events.append(.message(.answer(description.sdp), from: participant))
  }

  mutating func publishingFailed(_ error: JanusError, into output: inout JanusOutput) {
    output.warn("We cannot publish: \(error)")
    guard let participant = publication?.participant else { return }
    publication = nil
    output.events.append(.participantLeft(participant, isRejoinVerified: false))
  }

  /// Handles the end of the WebRTC connection on which we publish: another one is begun, unless it ended at once.
  mutating func publishingEnded(
    reason: String, now: ContinuousClock.Instant, into output: inout JanusOutput
  ) {
    guard let former = publication else { return }
    publication = nil
    output.events.append(.participantLeft(former.participant, isRejoinVerified: false))
    let isOurs = reason == JanusPublication.closedByUs
    let reason = reason.printable(utf8Bytes: 80)
    guard now - former.announced >= JanusPublication.minimumAge else {
      if isOurs { return output.note("We have closed the connection on which we publish.") }
      return output.warn("The server ended what we publish at once (\(reason)); it is not published again.")
    }
    output.note("The server ended what we publish (\(reason)); it is published again.")
    output.events.append(.participantJoined(newPublication(now: now)))
  }
}
