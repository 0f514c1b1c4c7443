internal import Media
package import Signalling

/// Our id and the other participants of the room, as the server reports them. Turns the server's messages into events.
/// Pure.
///
/// Checks every message, because the original server sends messages across rooms, lists participants who are gone, and
/// relays whatever old clients send.
package struct SkyRTCMembership: Sendable {
  /// Why a message of the server yields no event.
  package enum Anomaly: Sendable, Hashable, CustomStringConvertible {
    case unknownParticipant(String)
    case duplicatePeers
    case knownAlready(String)
    case offerAsAnswer(String)
    case beforePeers
    case tooMany(limit: Int)
    case renamed(String)

    package var description: String {
      switch self {
      case .unknownParticipant(let id): "The participant \(id.printable()) is not in the room."
      case .duplicatePeers: "The server sent a second _peers on one connection."
      case .knownAlready(let id): "The participant \(id.printable()) is already in the room."
      case .offerAsAnswer(let id): "The participant \(id.printable()) answered with an offer."
      case .beforePeers: "The server sent a message before _peers."
      case .tooMany(let limit): "More than \(limit) others are in the room."
      case .renamed(let id): "The participant \(id.printable()) has another name now."
      }
    }
  }

  /// The result of a message of the server.
  package enum Outcome: Sendable, Hashable {
    case event(SignallingEvent)
    case ignored(Anomaly)
  }

  /// Our id, or nil before the server's `_peers`.
  package private(set) var you: String?
  /// The secret that proves at the next join that the id is ours; nil if the server sent none.
  package private(set) var secret: String?
  /// The ICE servers that the server assigned; nil if it sent none.
  package private(set) var iceServers: SignalledICEServers?
  /// The number of participants listed at the join that are ignored because of the limit.
  package private(set) var ignoredCount = 0
  private var others: Set<String> = []
  private let maximumOthers: Int

  package init(maximumOthers: Int = 256) {
    self.maximumOthers = maximumOthers
  }

  package mutating func received(_ message: ServerMessage) -> Outcome {
    guard let you else {
      guard case .peers(let you, let listed, let secret, let iceServers, let profiles) = message else {
        return .ignored(.beforePeers)
      }
      self.you = you
      self.secret = secret
      self.iceServers = iceServers
      var unique: [String] = []
      for id in listed where id != you && !others.contains(id) {
        guard others.count < maximumOthers else {
          ignoredCount += 1
          continue
        }
        others.insert(id)
        unique.append(id)
      }
      return .event(
        .joined(
          id: ParticipantID(you), others: unique.map { Self.participant($0, profiles[$0], offerer: .local) }))
    }
    switch message {
    case .peers:
      return .ignored(.duplicatePeers)
    case .joined(let id, let profile):
      guard id != you, !others.contains(id) else { return .ignored(.knownAlready(id)) }
      guard others.count < maximumOthers else { return .ignored(.tooMany(limit: maximumOthers)) }
      others.insert(id)
      return .event(.participantJoined(Self.participant(id, profile, offerer: .remote)))
    case .profile(let id, _):
      // Those who record a participant know it by the name with which it joined.
      return .ignored(others.contains(id) ? .renamed(id) : .unknownParticipant(id))
    case .left(let id):
      guard others.remove(id) != nil else { return .ignored(.unknownParticipant(id)) }
      // Only a server that sent a secret never assigns an id to another participant.
      return .event(.participantLeft(ParticipantID(id), isRejoinVerified: secret != nil))
    case .signal(let signal, let id):
      guard others.contains(id) else { return .ignored(.unknownParticipant(id)) }
      return Self.outcome(of: signal, from: id)
    }
  }

  /// An id belongs to one connection to the server.
  private static func participant(
    _ id: String, _ profile: ParticipantProfile?, offerer: SignalledParticipant.Offerer
  ) -> SignalledParticipant {
    SignalledParticipant(ParticipantID(id), name: profile?.name, offerer: offerer, isIdentityVerified: true)
  }

  private static func outcome(of signal: RelayedMessage, from id: String) -> Outcome {
    switch signal {
    case .offer(let description):
      return .event(.message(.offer(description.sdp), from: ParticipantID(id)))
    case .answer(let description):
      if description.type == "offer" { return .ignored(.offerAsAnswer(id)) }
      return .event(.message(.answer(description.sdp), from: ParticipantID(id)))
    case .candidate(let candidate):
      return .event(.message(.candidate(candidate), from: ParticipantID(id)))
    }
  }
}
