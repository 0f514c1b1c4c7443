import Media
import Signalling

/// Checks the events of a signalling client, as its owner sees them: who is there, and whether the signalling has
/// ended.
struct SignallingLedger {
  private var present: Set<ParticipantID> = []
  /// Those whom the last `joined` did not name: they may return, leave or be heard.
  private var unnamed: Set<ParticipantID> = []
  private(set) var isClosed = false

  mutating func note(_ event: SignallingEvent) throws(InvariantViolation) {
    try require(!isClosed, "An event follows the end of the signalling.")
    switch event {
    case .joined(_, let others):
      unnamed.formUnion(present)
      present = Set(others.map(\.id))
      try require(present.count == others.count, "A participant is there twice.")
      unnamed.subtract(present)
    case .participantJoined(let participant):
      unnamed.remove(participant.id)
      try require(present.insert(participant.id).inserted, "A participant who is there joins.")
      try require((participant.name?.utf8.count ?? 0) <= 512, "A participant's name is endless.")
    case .participantLeft(let id, _):
      try require(present.remove(id) != nil || unnamed.remove(id) != nil, "A participant who is not there leaves.")
    case .message(_, let id):
      try require(present.contains(id) || unnamed.contains(id), "A message is from someone who is not there.")
    case .iceServers(let servers):
      try require(servers.count <= 16, "There are \(servers.count) ICE servers.")
    case .connectionLost(let reason, let wait):
      try sentence(reason)
      try require(wait >= .zero && wait <= .seconds(3_600), "The next attempt follows after \(wait).")
    case .rejected(let reason):
      try sentence(reason)
    case .closed(let reason):
      try sentence(reason)
      isClosed = true
    }
  }
}

/// Requires that a text for the log or for people is not empty, bounded, and without control characters.
///
/// - Parameter secret: a text that it must not contain.
func sentence(_ text: String, without secret: String? = nil) throws(InvariantViolation) {
  try require((1...1_500).contains(text.utf8.count), "A sentence has \(text.utf8.count) bytes.")
  try require(text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "A sentence has control characters.")
  if let secret { try require(!text.contains(secret), "A sentence contains a secret.") }
}

/// Requires that the headers of a message cannot be taken for anything else.
func headers(_ headers: some Sequence<(String, String)>) throws(InvariantViolation) {
  for (name, value) in headers {
    try require(value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "The header \(name) has control characters.")
  }
}
