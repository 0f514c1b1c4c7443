import BotPeer
import Media
import SDP

/// Parses a session description, answers it as an offer, and applies it as an answer.
enum DescriptionTarget {
  static func run(_ input: [UInt8]) throws(InvariantViolation) {
    let text = String(decoding: input, as: UTF8.self)
    if let description = try? SessionDescription(parsing: text) {
      try require(description.text.utf8.elementsEqual(text.utf8), "A description is not written back unchanged.")
      readEverything(of: description)
    }
    try offer(text, to: negotiator(seed: 1))
    try offer(text, to: called)
    try answer(text)
  }

  private static func readEverything(of description: SessionDescription) {
    _ = (description.bundles, description.origin, description.direction)
    for section in description.sections {
      _ = (section.mid, section.direction)
      for format in section.payloadFormats {
        _ = (H264Parameters(format.parameters)?.answer.text, format.parameters.parameterSets)
      }
      for line in section.lines {
        guard case .attribute(_, let value?) = line.content else { continue }
        _ = (
          Fingerprint(parsing: value), HeaderExtensionMap(parsing: value), SourceAttribute(parsing: value),
          SourceGroup(parsing: value), RestrictionIdentifier(parsing: value), SimulcastDescription(parsing: value)
        )
      }
    }
  }

  /// Checks that an offer is rejected without changing the negotiator, or answered section by section.
  private static func offer(_ text: String, to negotiator: Negotiator) throws(InvariantViolation) {
    var negotiator = negotiator
    var untouched = negotiator
    let reply: (answer: String, session: NegotiatedSession)?
    do {
      reply = try negotiator.receivedOffer(text)
    } catch {
      try require(error.description.utf8.count < 1_000, "An error message has \(error.description.utf8.count) bytes.")
      try require(
        negotiator.createOffer() == untouched.createOffer(), "A rejected offer has changed the negotiator.")
      return
    }
    guard let reply else { return }
    guard let theirs = try? SessionDescription(parsing: text), let ours = try? SessionDescription(parsing: reply.answer)
    else { throw InvariantViolation("Our answer, or the offer that it answers, cannot be read.") }
    let kinds = theirs.sections.map(\.mediaLine.kind)
    try require(kinds == ours.sections.map(\.mediaLine.kind), "The answer has other sections than the offer.")
    try require((1...2).contains(reply.session.media.count), "\(reply.session.media.count) sections are negotiated.")
    try require(reply.answer.utf8.count < 32_768, "An answer has \(reply.answer.utf8.count) bytes.")
    try require(
      (try? SessionDescription(parsing: negotiator.createOffer())) != nil, "Our next offer cannot be read.")
  }

  /// Checks that an answer matches the offer, or is rejected without changing the negotiator.
  private static func answer(_ text: String) throws(InvariantViolation) {
    var negotiator = negotiator(seed: 1)
    _ = negotiator.createOffer()
    if let session = try? negotiator.receivedAnswer(text) {
      try require(
        !session.media.isEmpty && session.media.allSatisfy { $0.index < 2 } && !negotiator.isAwaitingAnswer,
        "An answer negotiates something that was not offered.")
    } else {
      try require(
        negotiator.isAwaitingAnswer && negotiator.session == nil, "A rejected answer has changed the negotiator.")
    }
  }

  /// A negotiator that has answered an offer before.
  private static let called: Negotiator = {
    var (caller, called) = (negotiator(seed: 2), negotiator(seed: 1))
    _ = try? called.receivedOffer(caller.createOffer())
    return called
  }()

  private static func negotiator(seed: UInt64) -> Negotiator {
    var generator = FixedGenerator(seed: seed)
    let fingerprint = CertificateFingerprint(
      algorithm: "sha-256", digest: (0..<32).map { $0 &+ UInt8(truncatingIfNeeded: seed) })
    var tracks = TrackSettings(sending: [.audio, .video])
    tracks.codecs.acceptsRedundantAudio = true
    let local = LocalDescription(
      fingerprint: fingerprint, candidates: ["candidate:1 1 udp 2130706431 192.0.2.1 5000 typ host"],
      tracks: tracks, using: &generator)
    return Negotiator(local: local, isPolite: true, generator: generator)
  }
}
