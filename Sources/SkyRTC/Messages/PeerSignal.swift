/// What one participant tells another by way of the server, which only passes it on.
public enum PeerSignal: Sendable, Hashable {
  case offer(SignalledDescription)
  case answer(SignalledDescription)
  case candidate(SignalledCandidate)
}
