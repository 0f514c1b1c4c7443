/// Who we are and who else is in the room, by what the server said; turns its notices into events. Pure.
///
/// The server's word is not taken for everything: the original one speaks across rooms, leaves ghosts, and passes on
/// whatever old clients send.
package struct SkyRTCMembership: Sendable {
  /// Why a notice brings no event.
  package enum Oddity: Sendable, Hashable, CustomStringConvertible {
    case stranger(String)
    case secondWelcome
    case knownAlready(String)
    case offerAsAnswer(String)
    case beforeWelcome

    package var description: String {
      switch self {
      case .stranger(let id): "The participant \(id.printable()) is not in the room."
      case .secondWelcome: "The server welcomed us a second time on one connection."
      case .knownAlready(let id): "The participant \(id.printable()) is in the room already."
      case .offerAsAnswer(let id): "The participant \(id.printable()) answers with an offer."
      case .beforeWelcome: "The server sent something before it welcomed us."
      }
    }
  }

  /// What a notice amounts to.
  package enum Outcome: Sendable, Hashable {
    case event(SkyRTCClient.Event)
    case ignored(Oddity)
  }

  /// Our id, once welcomed.
  package private(set) var you: String?
  private var others: Set<String> = []

  package init() {}

  package mutating func received(_ notice: SkyRTCNotice) -> Outcome {
    guard let you else {
      guard case .peers(let you, let listed) = notice else { return .ignored(.beforeWelcome) }
      self.you = you
      var unique: [String] = []
      for id in listed where id != you && others.insert(id).inserted { unique.append(id) }
      return .event(.joined(you: you, others: unique))
    }
    switch notice {
    case .peers:
      return .ignored(.secondWelcome)
    case .joined(let id):
      guard id != you, others.insert(id).inserted else { return .ignored(.knownAlready(id)) }
      return .event(.participantJoined(id))
    case .left(let id):
      guard others.remove(id) != nil else { return .ignored(.stranger(id)) }
      return .event(.participantLeft(id))
    case .signal(let signal, let id):
      guard others.contains(id) else { return .ignored(.stranger(id)) }
      return Self.outcome(of: signal, from: id)
    }
  }

  private static func outcome(of signal: PeerSignal, from id: String) -> Outcome {
    switch signal {
    case .offer(let description):
      return .event(.offer(from: id, sdp: description.sdp))
    case .answer(let description):
      if description.type == "offer" { return .ignored(.offerAsAnswer(id)) }
      return .event(.answer(from: id, sdp: description.sdp))
    case .candidate(let candidate):
      return .event(
        .candidate(from: id, candidate: candidate.candidate, mid: candidate.mid, index: candidate.index))
    }
  }
}
