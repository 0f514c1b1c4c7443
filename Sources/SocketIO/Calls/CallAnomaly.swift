package import Media

/// Why a message of the server has no effect.
package enum CallAnomaly: Sendable, Hashable, CustomStringConvertible {
  case beforeLogin
  /// An offer, answer, candidate or hang-up of a user with whom there is no call.
  case noCall(ParticipantID)
  case responseWithoutRequest(ParticipantID)
  case requestOfOurselves
  /// Both users called each other at the same moment, and our call goes on.
  case callsCrossed(ParticipantID)

  package var description: String {
    switch self {
    case .beforeLogin: "A message arrived before the login was accepted."
    case .noCall(let user):
      "A message of \(user.text.printable(utf8Bytes: 64)) arrived, but there is no call with them."
    case .responseWithoutRequest(let user):
      "\(user.text.printable(utf8Bytes: 64)) answered a call that we did not make."
    case .requestOfOurselves: "The server sent a call of ourselves."
    case .callsCrossed(let user):
      "\(user.text.printable(utf8Bytes: 64)) called us while we called them; our call goes on."
    }
  }
}
