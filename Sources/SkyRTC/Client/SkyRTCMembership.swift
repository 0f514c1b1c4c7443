internal import Media
package import Signalling

/// Who we are and who else is in the room, by what the server said; turns its notices into events. Pure.
///
/// The server's word is not treated as everything: the original one speaks across rooms, leaves ghosts, and passes on
/// whatever old clients send.
package struct SkyRTCMembership: Sendable {
  /// Why a notice brings no event.
  package enum Anomaly: Sendable, Hashable, CustomStringConvertible {
    case stranger(String)
    case secondWelcome
    case knownAlready(String)
    case offerAsAnswer(String)
    case beforeWelcome
    case tooMany(limit: Int)

    package var description: String {
      switch self {
      case .stranger(let id): "The participant \(id.printable()) is not in the room."
      case .secondWelcome: "The server welcomed us a second time on one connection."
      case .knownAlready(let id): "The participant \(id.printable()) is in the room already."
      case .offerAsAnswer(let id): "The participant \(id.printable()) answers with an offer."
      case .beforeWelcome: "The server sent something before it welcomed us."
      case .tooMany(let limit): "More than \(limit) others are in the room."
      }
    }
  }

  /// What a notice amounts to.
  package enum Outcome: Sendable, Hashable {
    case event(SignallingEvent)
    case ignored(Anomaly)
  }

  /// Our id, once welcomed.
  package private(set) var you: String?
  /// What shows at the next join that the id is ours; nil if the server gave nothing.
  package private(set) var secret: String?
  /// How many of those who were there first are not noted.
  package private(set) var leftOut = 0
  private var others: Set<String> = []
  private let maximumOthers: Int

  package init(maximumOthers: Int = 256) {
    self.maximumOthers = maximumOthers
  }

  package mutating func received(_ notice: ServerMessage) -> Outcome {
    guard let you else {
      guard case .peers(let you, let listed, let secret) = notice else { return .ignored(.beforeWelcome) }
      self.you = you
      self.secret = secret
      var unique: [String] = []
      for id in listed where id != you && !others.contains(id) {
        guard others.count < maximumOthers else {
          leftOut += 1
          continue
        }
        others.insert(id)
        unique.append(id)
      }
      return .event(.joined(id: ParticipantID(you), others: unique.map { ParticipantID($0) }))
    }
    switch notice {
    case .peers:
      return .ignored(.secondWelcome)
    case .joined(let id):
      guard id != you, !others.contains(id) else { return .ignored(.knownAlready(id)) }
      guard others.count < maximumOthers else { return .ignored(.tooMany(limit: maximumOthers)) }
      others.insert(id)
      return .event(.participantJoined(ParticipantID(id)))
    case .left(let id):
      guard others.remove(id) != nil else { return .ignored(.stranger(id)) }
      // Only a server that gave us a secret gives an id again to nobody else.
      return .event(.participantLeft(ParticipantID(id), isReturnVerified: secret != nil))
    case .signal(let signal, let id):
      guard others.contains(id) else { return .ignored(.stranger(id)) }
      return Self.outcome(of: signal, from: id)
    }
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
